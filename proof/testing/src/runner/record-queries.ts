import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Document } from 'mongodb'
import { type Query, queriesOf } from '../mongodb-planner.ts'

/** A shape of command that the product sent: one example of it. */
export type RecordedQuery = {
  /** The file that asked the driver for it. */
  readonly place: string
  readonly collection: string
  readonly query: Query
}

type Methods = Record<string, (...args: unknown[]) => unknown>
type Class = { readonly prototype: Methods }

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const require = createRequire(import.meta.url)
const askedBy = new AsyncLocalStorage<string>()
const framesMax = 12
const ofProduct = /^(services|libs|tools)\/[^/]+\/src\//
/** What stands between the product and the driver in tests. */
const between = /node_modules|^node:|\/record-queries\.ts|\/refuse-unkeyed\.ts/

const asking = [
  ...['find', 'findOne', 'findOneAndUpdate', 'findOneAndDelete', 'findOneAndReplace', 'aggregate'],
  ...['updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany', 'bulkWrite'],
  ...['countDocuments', 'distinct'],
]

/**
 * Records each shape of command that the product's own code has the driver send from this process, once, with
 * an example. What tests ask for themselves is left out. Call it before anything connects.
 * @returns takes what was recorded since the last call
 */
export function recordQueries(): () => readonly RecordedQuery[] {
  const driver: Record<'Collection' | 'FindCursor' | 'AggregationCursor', Class> = require('mongodb')
  const { Connection }: { Connection: Class } = require('mongodb/lib/cmap/connection.js')
  const seen = new Set<string>()
  const cursorsOf = new WeakMap<object, string>()
  let fresh: RecordedQuery[] = []

  for (const name of asking)
    around(driver.Collection.prototype, name, (call) => {
      const place = askedBy.getStore() ?? caller()
      const answer = askedBy.run(place, call)
      if (typeof answer === 'object' && answer !== null) cursorsOf.set(answer, place)
      return answer
    })
  for (const cursor of [driver.FindCursor, driver.AggregationCursor])
    around(cursor.prototype, '_initialize', (call, self) => {
      const place = cursorsOf.get(self)
      return place === undefined ? call() : askedBy.run(place, call)
    })
  around(Connection.prototype, 'prepareCommand', (call, _, args) => {
    const place = askedBy.getStore()
    if (place !== undefined && ofProduct.test(place)) record(place, Object(args[1]))
    return call()
  })

  function record(place: string, command: Document): void {
    const found = queriesOf(command)
    if (found === null) return
    for (const query of found.queries) {
      const shape = JSON.stringify([place, found.collection, shapeOf(query)])
      if (seen.has(shape)) continue
      seen.add(shape)
      fresh.push({ place, collection: found.collection, query })
    }
  }

  return () => {
    const taken = fresh
    fresh = []
    return taken
  }
}

function around(
  methods: Methods,
  name: string,
  wrap: (call: () => unknown, self: object, args: readonly unknown[]) => unknown,
): void {
  const inner = methods[name]
  if (inner === undefined) throw new Error(`the driver has no ${name}`)
  methods[name] = function (this: object, ...args: unknown[]) {
    return wrap(() => Reflect.apply(inner, this, args), this, args)
  }
}

/** The file whose code called, below the project's root; empty when it is not known. */
function caller(): string {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = framesMax
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  for (const line of stack.split('\n').slice(1)) {
    const [, file] = /(?:file:\/\/)?(\/[^():?]+)[^():]*:\d+:\d+\)?$/.exec(line) ?? []
    if (file === undefined || between.test(file)) continue
    return relative(root, file)
  }
  return ''
}

/** A value of a closed set, such as a status or the type of an event. */
const word = /^([A-Z_]{2,20}|[a-z]{2,12}|[a-z]+(\.[a-z]+)+)$/

/** The query with a kind in place of each value that is not one of a closed set. */
function shapeOf(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() === 0 ? 'epoch' : 'date'
  if (typeof value === 'string') return word.test(value) ? value : value === '' ? 'empty' : 'string'
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number(value) > 0 ? 'positive' : String(value)
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))].toSorted()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === 'hint' ? one : shapeOf(one)]),
  )
}
