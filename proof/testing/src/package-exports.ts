import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readImports } from './read-imports.ts'

/** What people outside of this repository import. */
const published: Readonly<Record<string, readonly string[]>> = {
  'tools/operator-kit': ['./verify-webhook'],
}

/** The project's packages: name to folder. */
export function readPackages(root: string): ReadonlyMap<string, string> {
  const files = [...globSync('{libs,services,tools,proof}/*/package.json', { cwd: root }), 'web/package.json']
  return new Map(
    files.map((file) => {
      const { name }: { name: string } = JSON.parse(readFileSync(join(root, file), 'utf8'))
      return [name, file.replace('/package.json', '')]
    }),
  )
}

/** The `exports` of each package, by its folder: the files that other packages import, and no others. */
export function wantedExports(root: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const packages = readPackages(root)
  const used = new Map([...packages.values()].map((folder) => [folder, new Set(published[folder])]))
  const pattern = '{libs,services,tools,proof,web}/**/*.{ts,tsx,cts}'
  for (const { file, specifier, target } of readImports(root, pattern, packages)) {
    const [scope = '', name = '', ...rest] = specifier.split('/')
    const folder = packages.get(`${scope}/${name}`)
    if (target === null || folder === undefined || file.startsWith(`${folder}/`)) continue
    used.get(folder)?.add(`./${rest.join('/')}`)
  }
  return new Map(
    [...used].map(([folder, paths]) => [
      folder,
      Object.fromEntries([...paths].toSorted().map((path) => [path, `./src/${path.slice(2)}.ts`])),
    ]),
  )
}
