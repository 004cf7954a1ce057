import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Document } from 'mongodb'
import { collectionScan, objectionTo, type Query, wholeScan } from './mongodb-planner.ts'

type Declared = Readonly<Record<string, readonly IndexDeclaration[]>>

/** What was asked of the database: by which file, or by nobody knows which. */
export type AskedQuery = { readonly place?: string; readonly collection: string; readonly query: Query }

type Meant = {
  readonly collection: string
  /** The partial index that is read whole; without one it is the collection. */
  readonly index?: string
  /** The only file that may. */
  readonly place?: string
  readonly small: string
}

/** Reads of all of a collection or of a partial index that are meant, each with what keeps it small. */
const meant: readonly Meant[] = [
  { collection: 'platform', small: 'it is one document' },
  { collection: 'signing_keys', small: 'there is a new one every 90 days' },
  { collection: 'instances', small: 'processes of one service, those that run and those that died' },
  { collection: 'parked', small: 'a message that failed five times and that nobody has seen to' },
  {
    collection: 'commitments',
    place: 'services/rounds/src/storage/chain-seals.ts',
    small: 'it is read once for each exchange of a master key, by an order of operations',
  },
  { collection: 'replays', index: 'running', small: 'an account runs at most 20 at a time' },
  { collection: 'replays', index: 'uncounted', small: 'jobs that were cancelled a moment ago' },
  { collection: 'certifications', index: 'one_running', small: 'jobs that run' },
  { collection: 'reconciliations', index: 'one_running', small: 'jobs that run' },
  { collection: 'rounds', index: 'scope_unfinished', small: 'rounds that are not over' },
  { collection: 'rounds', index: 'one_unfinished', small: 'rounds that an earlier release has left' },
  { collection: 'rounds', index: 'scope_due', small: 'rounds that an earlier release has left' },
  { collection: 'movements', index: 'pending', small: 'movements without an outcome' },
  { collection: 'movements', index: 'due', small: 'movements that are to be repeated' },
  { collection: 'return_alarms', index: 'open_by_game', small: 'alarms that nobody has lifted' },
]

let declarations: Promise<readonly Declared[]> | null = null

/** The indexes that each service declares. */
async function declaredIndexes(): Promise<readonly Declared[]> {
  const read = async (file: string, name: string): Promise<Declared> =>
    (await import(new URL(`../../../services/${file}`, import.meta.url).href))[name]
  return Promise.all([
    read('auth/src/storage/auth-stores.ts', 'authIndexes'),
    read('rounds/src/all-wings.ts', 'indexes'),
    read('wallet-bridge/src/all-wings.ts', 'indexes'),
    read('webhooks/src/all-wings.ts', 'indexes'),
  ])
}

let plain: Promise<Readonly<Record<string, ReadonlySet<string>>>> | null = null

/** The fields of list documents that are not packed, by collection. */
async function plainFields(): Promise<Readonly<Record<string, ReadonlySet<string>>>> {
  const read = async (file: string) => import(new URL(`../../../services/${file}`, import.meta.url).href)
  const { plainRoundFields } = await read('rounds/src/storage/round-document.ts')
  const { plainMovementFields } = await read('wallet-bridge/src/storage/listed-movements.ts')
  return { rounds: plainRoundFields, movements: plainMovementFields }
}

/** The fields that a filter and a sort name. */
function namesIn({ filter, sort }: Query): string[] {
  const within = (part: Document): string[] =>
    Object.entries(part).flatMap(([name, value]) =>
      name.startsWith('$') && Array.isArray(value) ? value.flatMap(within) : [name.split('.')[0] ?? ''],
    )
  return [...within(filter), ...Object.keys(sort)]
}

/** What a query for today's list documents looks for in vain, since it is packed there. */
async function packedAmong({ place, collection, query }: AskedQuery): Promise<string[]> {
  plain ??= plainFields()
  const fields = (await plain)[collection]
  const isForOlder = place?.endsWith('/upgrade-storage.ts') === true || query.filter.n?.$exists === false
  if (fields === undefined || isForOlder) return []
  const packed = namesIn(query).filter((name) => !fields.has(name))
  return packed.map((name) => `${place ?? 'somebody'} asks ${collection} by ${name}, which is packed there`)
}

/**
 * The queries that MongoDB would answer by reading all of a collection or an index, and those by packed
 * fields, in words. A collection that several services have is judged by each one's indexes; one that none
 * declares is a test's own.
 */
export async function judgeQueries(asked: readonly AskedQuery[]): Promise<string[]> {
  if (asked.length === 0) return []
  declarations ??= declaredIndexes()
  const all = await declarations
  const inVain = (await Promise.all(asked.map(packedAmong))).flat()
  const slow = asked.flatMap(({ place, collection, query }) => {
    const objections = all.flatMap((declared) => {
      // An upgrade finds what is older by the indexes that it drops afterwards.
      const isUpgrade = place?.endsWith('/upgrade-storage.ts') === true
      const indexes = declared[collection]?.filter(({ retired }) => retired !== true || isUpgrade)
      return indexes === undefined ? [] : [objectionTo(query, indexes)]
    })
    const [first] = objections
    if (first === undefined || objections.includes(null) || first === null) return []
    if (meant.some((one) => isMeant(one, { place, collection, objection: first }))) return []
    const text = JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    return [`${place ?? 'somebody'} asks ${collection} for ${text.slice(0, 300)}: on MongoDB ${first}`]
  })
  return [...inVain, ...slow]
}

function isMeant(
  one: Meant,
  { place, collection, objection }: { place: string | undefined; collection: string; objection: string },
): boolean {
  if (one.collection !== collection || (one.place !== undefined && one.place !== place)) return false
  return one.index === undefined
    ? objection.startsWith(collectionScan)
    : objection === wholeScan({ name: one.index })
}
