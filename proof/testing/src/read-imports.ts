import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'

/** One import or re-export of a source file. */
export type Import = {
  /** The importing file, from the project's root. */
  readonly file: string
  /** The specifier as it is written. */
  readonly specifier: string
  /** The imported file, from the project's root; null for a package from outside the project. */
  readonly target: string | null
  /** Whether nothing of it is left when types are stripped. */
  readonly isTypeOnly: boolean
}

/**
 * Every import, re-export and dynamic import of the files that match `pattern`, by a parser.
 * @param packages folders of the project's packages by their names
 */
export function readImports(
  root: string,
  pattern: string,
  packages: ReadonlyMap<string, string>,
): readonly Import[] {
  return globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
    .toSorted()
    .flatMap((file) => importsIn(file, readFileSync(join(root, file), 'utf8'), packages))
}

/** As `readImports`, of one file's text. */
export function importsIn(
  file: string,
  text: string,
  packages: ReadonlyMap<string, string>,
): readonly Import[] {
  const { module, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${String(errors[0]?.message)}`)
  const found: { specifier: string; isTypeOnly: boolean }[] = []
  for (const { moduleRequest, entries } of module.staticImports) {
    const isTypeOnly = entries.length > 0 && entries.every(({ isType }) => isType)
    found.push({ specifier: moduleRequest.value, isTypeOnly })
  }
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, isType } of entries) {
      if (moduleRequest !== null) found.push({ specifier: moduleRequest.value, isTypeOnly: isType })
    }
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const written = text.slice(moduleRequest.start, moduleRequest.end)
    if (/^(['"]).*\1$/.test(written)) found.push({ specifier: written.slice(1, -1), isTypeOnly: false })
  }
  return found.map(({ specifier, isTypeOnly }) => ({
    file,
    specifier,
    isTypeOnly,
    target: targetOf(file, specifier, packages),
  }))
}

function targetOf(file: string, specifier: string, packages: ReadonlyMap<string, string>): string | null {
  if (specifier.startsWith('.')) return relative('.', join(dirname(file), specifier))
  const [scope = '', name = '', ...rest] = specifier.split('/')
  const folder = packages.get(`${scope}/${name}`)
  return folder === undefined ? null : `${folder}/src/${rest.join('/')}.ts`
}
