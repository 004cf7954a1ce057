import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Programs that tests start often, by the name of the bundle. */
const programs = {
  'auth-main': 'services/auth/src/main.ts',
  'gateway-main': 'services/gateway/src/main.ts',
  'rounds-main': 'services/rounds/src/main.ts',
  'wallet-bridge-main': 'services/wallet-bridge/src/main.ts',
  'webhooks-main': 'services/webhooks/src/main.ts',
  'ops-main': 'tools/ops/src/main.ts',
}
/**
 * Packages that cannot be bundled: native ones, and the driver, since end-closed-writes.ts loads a file of
 * it.
 */
const external = [/^mongodb($|\/)/, /^@node-rs\//, /^@opentelemetry\//]

/**
 * Bundles the programs that tests start hundreds of times: a bundle loads in half the processor time of the
 * sources. They are made anew when anything has changed that they are made of.
 * @param root folder of the project
 * @returns the folder of the bundles, `<name>-main.js`
 */
export async function bundlePrograms(root: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache/pitboss-programs')
  const mark = join(folder, 'made-of')
  const madeOf = hashOfSources(root)
  if (existsSync(mark) && readFileSync(mark, 'utf8') === madeOf) return folder
  // vite makes this process one of production
  const { NODE_ENV } = process.env
  await build({
    root,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      target: 'node24',
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: {
        external,
        input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(root, path)])),
        output: { entryFileNames: '[name].js', chunkFileNames: 'part-[hash].js' },
      },
    },
  })
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  writeFileSync(mark, madeOf)
  return folder
}

/** What the bundles are made of: the sources of all packages, the lock file, and this program. */
function hashOfSources(root: string): string {
  const hash = createHash('sha256')
  const sources = globSync('{libs,services,tools}/*/{src/**/*.{ts,cts,json},package.json}', {
    cwd: root,
  }).toSorted()
  for (const path of [...sources, 'package-lock.json'])
    hash.update(`${path}\n`).update(readFileSync(join(root, path)))
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest('hex')
}
