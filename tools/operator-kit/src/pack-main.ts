import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { z } from 'zod'

/**
 * `npm run pack:kit [-- FOLDER]`: makes the kit a package for people who do not have this repository, with
 * everything in it that it needs: `npx pitboss`, `npx pitboss-sandbox-wallet` and
 * `@pitboss/operator-kit/verify-webhook`, with types.
 */
const kit = fileURLToPath(new URL('../', import.meta.url))
const out = resolve(process.argv[2] ?? join(kit, 'dist'))
const folder = join(out, 'package')
const parts = 'parts'
/** The least version of Node that runs the kit: operators have it, this repository needs a newer one. */
const leastNode = { major: 20, minor: 17 }
const leastNodeText = `${leastNode.major}.${leastNode.minor}`
/** Exit code of wrong usage; 1 means that something is not certified, valid or complete. */
const oldNodeExitCode = 2
const commands = { pitboss: 'cli.ts', 'pitboss-sandbox-wallet': 'sandbox-wallet/main.ts' }
const manifest = z
  .looseObject({ name: z.string(), version: z.string() })
  .parse(JSON.parse(readFileSync(join(kit, 'package.json'), 'utf8')))

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
await build({
  root: kit,
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: true,
    target: `node${leastNodeText}`,
    outDir: folder,
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input: {
        ...Object.fromEntries(
          Object.entries(commands).map(([name, file]) => [`${parts}/${name}`, join(kit, 'src', file)]),
        ),
        'verify-webhook': join(kit, 'src/verify-webhook.ts'),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: `${parts}/[name]-[hash].js` },
    },
  },
})
run('npx', [
  ...[
    'tsc',
    '--ignoreConfig',
    '--declaration',
    '--emitDeclarationOnly',
    '--target',
    'es2024',
    '--skipLibCheck',
  ],
  ...['--module', 'nodenext', '--outDir', folder, join(kit, 'src/verify-webhook.ts')],
])
for (const name of Object.keys(commands)) {
  writeFileSync(join(folder, `${name}.js`), commandText(name), { mode: 0o755 })
}
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify(
    {
      name: manifest.name,
      version: manifest.version,
      description:
        'Verify rounds, certify wallets and webhook receivers, listen to events: tools for operators of Pitboss.',
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: `>=${leastNodeText}` },
      bin: Object.fromEntries(Object.keys(commands).map((name) => [name, `${name}.js`])),
      exports: { './verify-webhook': { types: './verify-webhook.d.ts', default: './verify-webhook.js' } },
    },
    null,
    2,
  )}\n`,
)
cpSync(join(kit, 'README.md'), join(folder, 'README.md'))
cpSync(join(kit, '../../LICENSE'), join(folder, 'LICENSE'))
const tarball = join(out, run('npm', ['pack', '--silent', '--pack-destination', out, folder]).trim())
process.stdout.write(`${tarball}\n\nNext, in a folder of your own:\n  npm install ${tarball}\n`)

/** Looks at its Node before anything is loaded that an older one may not even read. */
function commandText(name: string): string {
  const { major, minor } = leastNode
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > ${major} || (major === ${major} && minor >= ${minor})) import('./${parts}/${name}.js')
else {
  process.stderr.write('${name} needs Node ${leastNodeText} or later; this is ' + process.version + '.\\n')
  process.exitCode = ${oldNodeExitCode}
}
`
}

/** Output of a command. Ends this process when it fails. */
function run(command: string, args: string[]): string {
  const { status, stdout } = spawnSync(command, args, {
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status === 0) return stdout
  process.stderr.write(stdout)
  process.exit(status ?? 1)
}
