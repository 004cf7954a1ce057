import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import t from 'tap'

/*
 * docs/data.md has a row for each collection of each service. Names come from the code: what is given to
 * `collection('…')`, the keys of objects named `…Indexes` or `indexes`, and those given to `ensureIndexes`.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks']
const library = '@pitboss/storage/'

/** The collections that a file names, and what else tells of them. */
type Names = {
  readonly opened: Set<string>
  /** Declared collections, with the text of their indexes. */
  readonly declared: Map<string, string>
  /** Declared collections by the object that declares them, which other files may spread. */
  readonly byObject: Map<string, string[]>
  /** Texts of constants that hold indexes, by name. */
  readonly indexes: Map<string, string>
  /** Imports of the storage library: file and name. */
  readonly imports: { file: string; name: string }[]
}

function namesIn(file: string, text: string): Names {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${String(errors[0]?.message)}`)
  const names: Names = {
    ...{ opened: new Set(), declared: new Map(), byObject: new Map(), indexes: new Map(), imports: [] },
  }
  const constants = new Map<string, string>()
  const declare = (object: { properties: readonly object[] }): string[] =>
    object.properties.flatMap((property) => {
      if (!('key' in property) || !('value' in property) || !('computed' in property)) return []
      if (property.computed === true) return []
      const name = textOf(text, property.key).replaceAll(/['"]/g, '')
      names.declared.set(name, textOf(text, property.value))
      return [name]
    })
  new Visitor({
    ImportDeclaration({ source, specifiers, importKind }) {
      if (!source.value.startsWith(library) || importKind === 'type') return
      for (const specifier of specifiers) {
        if (specifier.type !== 'ImportSpecifier' || specifier.importKind === 'type') continue
        const name = textOf(text, specifier.imported)
        names.imports.push({ file: `${source.value.slice(library.length)}.ts`, name })
      }
    },
    VariableDeclarator({ id, init }) {
      if (id.type !== 'Identifier' || init === null) return
      if (init.type === 'Literal' && typeof init.value === 'string') constants.set(id.name, init.value)
      if (!/index(es)?$/i.test(id.name)) return
      names.indexes.set(id.name, textOf(text, init))
      if (/indexes$/i.test(id.name) && init.type === 'ObjectExpression')
        names.byObject.set(id.name, declare(init))
    },
    Property({ key, value }) {
      // As a wing declares its collections.
      if (textOf(text, key) === 'indexes' && value.type === 'ObjectExpression') declare(value)
    },
    CallExpression({ callee, arguments: [first, second] }) {
      if (callee.type === 'Identifier' && callee.name === 'ensureIndexes') {
        if (second?.type === 'ObjectExpression') declare(second)
      }
      if (callee.type !== 'MemberExpression' || textOf(text, callee.property) !== 'collection') return
      const name = first?.type === 'Identifier' ? constants.get(first.name) : undefined
      if (name !== undefined) names.opened.add(name)
      if (first?.type === 'Literal' && typeof first.value === 'string') names.opened.add(first.value)
    },
  }).visit(program)
  return names
}

function textOf(text: string, node: unknown): string {
  if (typeof node !== 'object' || node === null || !('start' in node) || !('end' in node)) return ''
  return text.slice(Number(node.start), Number(node.end))
}

const libFolder = 'libs/storage/src/'
/** Of the library the name by which it is imported. */
const nameOf = (file: string) => (file.startsWith(libFolder) ? file.slice(libFolder.length) : basename(file))
const read = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .toSorted()
    .map((file) => ({ file: nameOf(file), names: namesIn(file, readFileSync(join(root, file), 'utf8')) }))
const lib = new Map(read('libs/storage/src/**/*.ts').map(({ file, names }) => [file, names]))

/** Each collection of a service, and whether an index of it removes documents by their age. */
function collectionsOf(service: string): Map<string, boolean> {
  const files = read(`services/${service}/src/**/*.ts`).map(({ names }) => names)
  const indexes = new Map([...files, ...lib.values()].flatMap((names) => [...names.indexes]))
  const found = new Map<string, boolean>()
  const add = (name: string, text: string) =>
    found.set(name, found.get(name) === true || removesByAge(text, indexes))
  for (const { opened, declared, imports } of files) {
    for (const name of opened) add(name, '')
    for (const [name, text] of declared) add(name, text)
    for (const { file, name: imported } of imports) {
      const of = lib.get(file)
      if (of === undefined) throw new Error(`libs/storage has no ${file}`)
      for (const name of of.byObject.get(imported) ?? []) add(name, of.declared.get(name) ?? '')
      // What no object declares belongs to every user of the file.
      for (const name of of.opened) if (!of.declared.has(name)) add(name, '')
    }
  }
  return found
}

/** Whether the text, or an index that it names, expires documents. */
function removesByAge(text: string, indexes: ReadonlyMap<string, string>): boolean {
  if (text.includes('expireAfterSeconds')) return true
  return [...text.matchAll(/\w*[iI]ndex(?:es)?\b/g)].some(([name]) => {
    const named = indexes.get(name)
    return named !== undefined && named !== text && removesByAge(named, indexes)
  })
}

/** The rows of the page below the heading of a service: collection, and whether it says `TTL`. */
function rowsOf(page: string, service: string): Map<string, boolean> {
  const [, part = ''] = page.split(`\n### ${service}\n`)
  const [section = ''] = part.split(/\n##+ /)
  const rows = [...section.matchAll(/^\| `(\w+)` \|(?:[^|\n]*\|){2}([^|\n]*)\|/gm)]
  return new Map(rows.map(([, name = '', stays = '']) => [name, stays.includes('TTL')]))
}

const sorted = (found: ReadonlyMap<string, boolean>) =>
  Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))

t.test('each collection has its row, and each row its collection', (t) => {
  const page = readFileSync(join(root, 'docs/data.md'), 'utf8')
  const known = new Set<string>()
  for (const service of services) {
    const collections = collectionsOf(service)
    t.strictSame(sorted(rowsOf(page, service)), sorted(collections), service)
    for (const name of collections.keys()) known.add(name)
  }
  const shared = [...lib.values()].flatMap(({ opened, declared }) => [...opened, ...declared.keys()])
  t.strictSame(
    shared.filter((name) => !known.has(name)),
    [],
    'a collection of the library belongs to a service',
  )
  t.end()
})

t.test('the rule finds what it is for', (t) => {
  const text = `
    import { leaseIndexes, createLease, type Lease } from '@pitboss/storage/lease'
    const name = 'seals'
    const keptIndex = { key: { at: 1 }, name: 'kept', expireAfterSeconds: 60 }
    const logIndexes = [keptIndex]
    export const someIndexes: Readonly<Record<string, unknown>> = { logs: logIndexes, notes: [] }
    function open(db) { return [db.collection<{ _id: string }>('opened'), db.collection(name)] }
    await ensureIndexes(db, { ...leaseIndexes, bare: [] })`
  const { opened, declared, byObject, indexes, imports } = namesIn('x.ts', text)
  t.strictSame([...opened], ['opened', 'seals'])
  t.strictSame([...declared.keys()], ['logs', 'notes', 'bare'])
  t.strictSame(byObject.get('someIndexes'), ['logs', 'notes'])
  t.strictSame(
    imports.map(({ file, name: imported }) => `${file} ${imported}`),
    ['lease.ts leaseIndexes', 'lease.ts createLease'],
  )
  t.equal(removesByAge(declared.get('logs') ?? '', indexes), true)
  t.equal(removesByAge(declared.get('notes') ?? '', indexes), false)
  const page =
    '\n### auth\n\n| `a` | b | c | 1 h (TTL) | d |\n| `b` | b | c | for ever | TTL |\n\n### x\n\n| `c` |'
  t.strictSame(sorted(rowsOf(page, 'auth')), { a: true, b: false })
  t.end()
})
