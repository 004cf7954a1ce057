import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { z } from 'zod'

/**
 * `npm run pack:kit [-- FOLDER]`: makes the kit a package for people who do not have this repository, with everything in it that it
 * needs: `npx pitboss`, `npx pitboss-sandbox-wallet` and `@pitboss/operator-kit/verify-webhook`, with types.
 */
const kit = fileURLToPath(new URL('../', import.meta.url))
const out = resolve(process.argv[2] ?? join(kit, 'dist'))
const folder = join(out, 'package')
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
    target: 'node22',
    outDir: folder,
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input: {
        ...Object.fromEntries(Object.entries(commands).map(([name, file]) => [name, join(kit, 'src', file)])),
        'verify-webhook': join(kit, 'src/verify-webhook.ts'),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' },
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
  const file = join(folder, `${name}.js`)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.startsWith('#!') ? text : `#!/usr/bin/env node\n${text}`, { mode: 0o755 })
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
      engines: { node: '>=22.19' },
      bin: Object.fromEntries(Object.keys(commands).map((name) => [name, `${name}.js`])),
      exports: { './verify-webhook': { types: './verify-webhook.d.ts', default: './verify-webhook.js' } },
    },
    null,
    2,
  )}\n`,
)
cpSync(join(kit, 'README.md'), join(folder, 'README.md'))
cpSync(join(kit, '../../LICENSE'), join(folder, 'LICENSE'))
run('npm', ['pack', '--silent', '--pack-destination', out, folder])

function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
