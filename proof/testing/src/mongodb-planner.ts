import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Document } from 'mongodb'

/*
 * A model of how MongoDB plans a query, as far as it decides between a few index entries and all of a
 * collection or an index. Which partial indexes it may use follows `expression::isSubsetOf` of the server's
 * `src/mongo/db/matcher/expression_algo.cpp`: it knows comparisons, `$in` and `$exists`, and never proves a
 * filter by `$type` from an equality.
 */

/** What a command looks for in one collection. */
export type Query = {
  readonly filter: Document
  readonly sort: Document
  readonly hint: string | Document | null
  /** The most documents that it wants; 0 for all. */
  readonly limit: number
}

type Condition = { readonly path: string; readonly op: string; readonly value: unknown }
type Index = Pick<IndexDeclaration, 'name' | 'key' | 'partialFilterExpression'>

/** How the objection to a query begins that reads all of its collection. */
export const collectionScan = 'a scan of the collection'

const byId: Index = { name: '_id_', key: { _id: 1 } }
/** A range of an index answers these; `$ne`, `$nin` and `$exists` ask for nearly all of it. */
const bounding = new Set(['$eq', '$in', '$gt', '$gte', '$lt', '$lte', '$type', '$elemMatch'])

/** The queries of a command, as the driver sends it; none for other commands. */
export function queriesOf(command: Document): { collection: string; queries: readonly Query[] } | null {
  const [name = '', collection] = Object.entries(command)[0] ?? []
  if (typeof collection !== 'string') return null
  const queries = readers.get(name)?.(command)
  return queries === undefined ? null : { collection, queries }
}

const query = (filter: Document = {}, { sort = {}, hint = null, limit = 0 }: Document = {}): Query => ({
  ...{ filter, hint, limit: Math.abs(Number(limit)) },
  sort: sort instanceof Map ? Object.fromEntries(sort) : sort,
})
const find = (command: Document) => [query(command.filter, command)]
const findAndModify = (command: Document) => [query(command.query, { ...command, limit: 1 })]
/** The driver sends a long list beside its command. */
const listOf = (list: Document): Document[] => (Array.isArray(list) ? list : list.documents)
const update = ({ updates = [] }: Document): Query[] =>
  listOf(updates).map(({ q, hint, multi }: Document) => query(q, { hint, limit: multi === true ? 0 : 1 }))
const remove = ({ deletes = [] }: Document): Query[] =>
  listOf(deletes).map(({ q, hint, limit }: Document) => query(q, { hint, limit }))
// Without a query it is the collection's own count.
const count = (command: Document) => (command.query === undefined ? [] : [query(command.query, command)])
const distinct = (command: Document) => [query(command.query, command)]
const aggregate = ({ pipeline: [first = {}, second = {}] = [], hint }: Document) => [
  query(first.$match, { hint, limit: second.$limit ?? first.$limit ?? 0 }),
]

const readers = new Map<string, (command: Document) => readonly Query[]>(
  Object.entries({ find, findAndModify, update, delete: remove, count, distinct, aggregate }),
)

/**
 * Why MongoDB would read all of a collection or of an index for the query; null when it need not.
 * @param declared the indexes of the collection beside that of `_id`
 */
export function objectionTo(asked: Query, declared: readonly Index[]): string | null {
  const indexes = [...declared, byId]
  if (asked.hint !== null) return objectionToHint(asked, indexes)
  if (isServed(asked.filter, indexes)) return null
  const [order] = Object.keys(asked.sort)
  // Few match its filter, so that reading all of it in the order of the sort is little.
  const small = indexes.find(
    ({ key, partialFilterExpression: own, ...index }) =>
      own !== undefined &&
      order === Object.keys(key)[0] &&
      isImplied({ ...index, key, partialFilterExpression: own }, asked.filter),
  )
  if (small !== undefined) return wholeScan(small)
  if (Object.keys(asked.filter).length === 0 && asked.limit > 0) {
    if (order === undefined) return null
    const sorted = indexes.some(
      ({ key, partialFilterExpression }) =>
        Object.keys(key)[0] === order && partialFilterExpression === undefined,
    )
    return sorted ? null : `${collectionScan}, sorted by ${order}`
  }
  return collectionScan
}

/** The objection to a query that reads all of an index. */
export const wholeScan = ({ name }: Pick<Index, 'name'>): string =>
  `a whole scan of ${name}: nothing bounds its first field`

function objectionToHint({ filter, hint }: Query, indexes: readonly Index[]): string | null {
  const text = typeof hint === 'string' ? hint : JSON.stringify(hint)
  const index = indexes.find(({ name, key }) => name === hint || JSON.stringify(key) === text)
  if (index === undefined) return `the hint ${text}, which is no index`
  if (!isImplied(index, filter)) return `a whole scan of ${index.name}: the filter does not imply its own`
  return isBounded(index, filter) ? null : wholeScan(index)
}

/**
 * Whether a range of some index has all that the filter matches; of an `$or` each branch may have its own.
 */
function isServed(filter: Document, indexes: readonly Index[]): boolean {
  if (indexes.some((index) => isImplied(index, filter) && isBounded(index, filter))) return true
  const { $or: branches, ...rest } = filter
  return (
    Array.isArray(branches) &&
    branches.every((branch: Document) => isServed({ $and: [rest, branch] }, indexes))
  )
}

function isBounded({ key }: Index, filter: Document): boolean {
  const [first] = Object.keys(key)
  return conditionsOf(filter).some(({ path, op }) => path === first && bounding.has(op))
}

function isImplied({ partialFilterExpression: own }: Index, filter: Document): boolean {
  if (own === undefined) return true
  const given = conditionsOf(filter)
  const isProven = (conditions: readonly Condition[]) =>
    conditionsOf(own).every((wanted) => conditions.some((condition) => implies(condition, wanted)))
  if (isProven(given)) return true
  const { $or: branches, ...rest } = filter
  return (
    Array.isArray(branches) &&
    branches.every((branch: Document) =>
      isImplied({ ...byId, partialFilterExpression: own }, { $and: [rest, branch] }),
    )
  )
}

/** The conditions that all have to hold; those of an `$or` are none of them. */
function conditionsOf(filter: Document): Condition[] {
  return Object.entries(filter).flatMap(([path, value]): Condition[] => {
    if (path === '$and' && Array.isArray(value)) return value.flatMap((one: Document) => conditionsOf(one))
    if (path.startsWith('$')) return []
    const operators = operatorsOf(value)
    return operators === null
      ? [{ path, op: '$eq', value }]
      : operators.map(([op, of]) => ({ path, op, value: of }))
  })
}

function operatorsOf(value: unknown): [string, unknown][] | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || value instanceof Date)
    return null
  const entries = Object.entries(value)
  return entries.length > 0 && entries.every(([name]) => name.startsWith('$')) ? entries : null
}

function implies(given: Condition, wanted: Condition): boolean {
  if (given.path !== wanted.path) return false
  if (given.op === '$in')
    return (
      Array.isArray(given.value) &&
      given.value.length > 0 &&
      given.value.every((value) => implies({ ...given, op: '$eq', value }, wanted))
    )
  if (wanted.op === '$type') return given.op === '$type' && given.value === wanted.value
  if (wanted.op === '$exists') return given.op !== '$exists' || given.value === wanted.value
  const order = compare(given.value, wanted.value)
  if (order === null) return false
  switch (wanted.op) {
    case '$eq':
      return given.op === '$eq' && order === 0
    case '$gt':
      return given.op === '$gt' ? order >= 0 : ['$eq', '$gte'].includes(given.op) && order > 0
    case '$gte':
      return ['$eq', '$gt', '$gte'].includes(given.op) && order >= 0
    case '$lt':
      return given.op === '$lt' ? order <= 0 : ['$eq', '$lte'].includes(given.op) && order < 0
    case '$lte':
      return ['$eq', '$lt', '$lte'].includes(given.op) && order <= 0
    default:
      return false
  }
}

/** Order of two values of one kind; null for others, which MongoDB never compares. */
function compare(one: unknown, other: unknown): number | null {
  const [a, b] = [comparable(one), comparable(other)]
  if (a.kind !== b.kind) return null
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

function comparable(value: unknown): { kind: string; value: string | number | bigint | boolean } {
  if (value instanceof Date) return { kind: 'date', value: value.getTime() }
  if (typeof value === 'bigint' || typeof value === 'number') return { kind: 'number', value }
  if (typeof value === 'string' || typeof value === 'boolean') return { kind: typeof value, value }
  return { kind: value === null || value === undefined ? 'null' : 'other', value: 0 }
}
