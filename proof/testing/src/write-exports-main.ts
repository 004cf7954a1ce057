import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readImports } from './read-imports.ts'

/** `npm run exports`: writes into each package.json of the project which of its files other packages import. */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const files = [...globSync('{libs,services,tools,proof}/*/package.json', { cwd: root }), 'web/package.json']
const read = (file: string): { name: string } => JSON.parse(readFileSync(join(root, file), 'utf8'))
const packages = new Map(files.map((file) => [read(file).name, file.replace('/package.json', '')]))
const used = new Map<string, Set<string>>()

for (const { file, specifier, target } of readImports(
  root,
  '{libs,services,tools,proof,web}/**/*.{ts,tsx,cts}',
  packages,
)) {
  const [scope = '', name = '', ...rest] = specifier.split('/')
  const folder = packages.get(`${scope}/${name}`)
  if (target === null || folder === undefined || file.startsWith(`${folder}/`)) continue
  used.set(folder, (used.get(folder) ?? new Set()).add(`./${rest.join('/')}`))
}
for (const file of files) {
  const folder = file.replace('/package.json', '')
  const paths = [...(used.get(folder) ?? [])].toSorted()
  const exports = Object.fromEntries(paths.map((path) => [path, `./src/${path.slice(2)}.ts`]))
  writeFileSync(join(root, file), `${JSON.stringify({ ...read(file), exports }, null, 2)}\n`)
}
