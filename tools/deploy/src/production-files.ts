import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

type Package = {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/**
 * Folders of the packages that the one at `start` needs in production, itself first, relative to `root`, each
 * with those that it needs itself: its dependencies and theirs, as Node finds them in what npm has installed.
 * Development's are left out, also those of the workspaces. @throws Error for one that is not installed
 */
export function productionTree(root: string, start: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const visit = (folder: string) => {
    const name = relative(root, folder)
    if (found.has(name)) return
    const needs: string[] = []
    found.set(name, needs)
    const own: Package = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const optional = new Set([
      ...Object.keys(own.optionalDependencies ?? {}),
      ...Object.entries(own.peerDependenciesMeta ?? {}).flatMap(([name, meta]) =>
        meta.optional === true ? [name] : [],
      ),
    ])
    const names = { ...own.peerDependencies, ...own.dependencies, ...own.optionalDependencies }
    for (const needed of Object.keys(names)) {
      const dependency = locate(root, folder, needed)
      if (dependency !== null) {
        needs.push(relative(root, dependency))
        visit(dependency)
      } else if (!optional.has(needed)) throw new Error(`${name} needs ${needed}: run npm ci`)
    }
  }
  visit(join(root, start))
  return found
}

/** The folders of `productionTree` alone. */
export function productionPackages(root: string, start: string): string[] {
  return [...productionTree(root, start).keys()]
}

/** Real folder of a package as Node would find it from `folder`; null when it is not installed. */
function locate(root: string, folder: string, name: string): string | null {
  for (let at = folder; at.startsWith(root); at = dirname(at)) {
    const candidate = join(at, 'node_modules', name)
    if (existsSync(candidate)) return realpathSync(candidate)
  }
  return null
}

/**
 * Copies what a service needs in production into `out`, an empty or a new folder: the source of its
 * workspaces without their tests, installed packages, and for the gateway the built pages. `start` is its
 * folder, such as `services/auth`.
 * @throws Error when the pages of the gateway are not built
 */
export function collectProduction(root: string, start: string, out: string): void {
  const copy = (path: string, filter?: (path: string) => boolean) => {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    cpSync(join(root, path), join(out, path), {
      recursive: true,
      ...(filter === undefined ? {} : { filter }),
    })
  }
  copy('package.json')
  for (const folder of productionPackages(root, start)) {
    const isInstalled = folder.split(sep).includes('node_modules')
    if (isInstalled) {
      // What a package has installed below itself is a package of its own in the list.
      copy(folder, (path) => !relative(join(root, folder), path).split(sep).includes('node_modules'))
      continue
    }
    copy(join(folder, 'package.json'))
    copy(join(folder, 'src'))
    const { name }: { name: string } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const link = join(out, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    if (!isThere(link)) symlinkSync(relative(dirname(link), join(out, folder)), link)
  }
  if (start !== 'services/gateway') return
  if (!existsSync(join(root, 'web/dist'))) throw new Error('the pages are not built: npm run build:web')
  copy('web/dist')
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
