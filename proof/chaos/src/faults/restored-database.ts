import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Product } from '@pitboss/bench/harness/start-product'
import { isUnfinished } from '@pitboss/rounds/rules/round'
import type { RoundFields } from '@pitboss/rounds/storage/round-document'
import {
  bookKind,
  idKind,
  type RoundEntry,
  type RoundFact,
  streamState,
} from '@pitboss/rounds/storage/round-stream'
import { standingAmong } from '@pitboss/storage/journal/claims'
import type { JournalDocument } from '@pitboss/storage/journal/journal'
import { entriesOf, entryId, entryNumber, streamOf } from '@pitboss/storage/journal/journal-keys'
import { readOps } from '@pitboss/testing/run-ops'
import { BSON, type Db } from 'mongodb'
import { z } from 'zod'
import { requestKey } from '../check/requests.ts'
import { nothingLost, type Restored, type RestoredPart } from '../check/restored.ts'
import type { Random } from '../random.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { clockOffMs } from './clock-faults.ts'
import { type Collections, readDocuments, setBackDocuments, withDatabase } from './database-copy.ts'
import { signalAll } from './find-processes.ts'

const database = 'pitboss_rounds'
const readyWithinMs = 90_000
const everyMs = 250
/** Commands that a process had sent when it was stopped have ended by then. */
const quietMs = 700
/** What a process that was killed just before had appended is made up for by the others meanwhile. */
const drainWithinMs = 60_000
const stakesEndWithinMs = 30_000
const healTries = 20
/** The players of open rounds have so long from the restore on, however short the run's times are. */
const openForMs = 60_000
const drawnFromS = 300
const drawnShare = 0.25
const ageMsOf = { least: 3000, most: 25_000 }

/** The database of rounds at one instant. */
export type Copy = { readonly takenAtMs: number; readonly collections: Collections }

const reopened = z.array(z.looseObject({ status: z.string(), refused: z.string().nullable() }))
const stored = z.looseObject({
  _id: z.string(),
  scope: z.string(),
  driver: z.string(),
  playerId: z.string(),
  game: z.string(),
  nonce: z.coerce.number(),
  transactionIds: z.array(z.string()),
})

type Account = Pick<Tenancy, 'operatorId' | 'environment'>
type Running = Pick<Product, 'demo' | 'dataDir'>
type Parts = { product: Running; note: (text: string) => void }

/**
 * When the copy is taken and how old it is when it comes back; null for a run without a restore. A run that
 * is asked for one has it, and of the long ones one in four. It leaves the last two fifths of the run to
 * other faults.
 */
export function planRestore(
  seconds: number,
  random: Random,
  isAsked: boolean,
): { copyAfterMs: number; ageMs: number } | null {
  if (!isAsked && (seconds < drawnFromS || !random.chance(drawnShare))) return null
  const copyAfterMs = seconds * random.between(200, 350)
  const ageMs = Math.min(random.between(ageMsOf.least, ageMsOf.most), Math.max(ageMsOf.least, seconds * 150))
  return { copyAfterMs, ageMs }
}

/** Copies the database of rounds as it is at one instant: its processes stand still meanwhile. */
export async function copyDatabase({ product, note }: Parts): Promise<Copy> {
  await untilReady(product, () => true)
  const stopped = signalAll(product, 'rounds', 'SIGSTOP')
  try {
    await delay(quietMs)
    const takenAtMs = Date.now()
    const collections = await withDatabase(product, database, readDocuments)
    note('the database of rounds is copied')
    return { takenAtMs, collections }
  } finally {
    for (const pid of stopped) process.kill(pid, 'SIGCONT')
  }
}

/**
 * Sets the database of rounds back to the copy and heals it by the commands of docs/runbook.md, "The database
 * of rounds was restored": play is off, the processes of rounds are gone, and what their outboxes held has
 * been sent.
 */
export async function restoreDatabase(
  copy: Copy,
  {
    product,
    note,
    tenancies,
    unsent,
  }: Parts & {
    tenancies: readonly Account[]
    /** Documents whose events the stream does not have yet. */
    unsent: () => Promise<string[]>
  },
): Promise<Restored> {
  await untilReady(product, () => true)
  const gateways = signalAll(product, 'gateway', 'SIGSTOP')
  try {
    let waiting: string[] = []
    const isEmpty = async () => (waiting = await unsent()).length === 0
    await until(drainWithinMs, () => `the outboxes are empty, but for ${waiting.join(', ')}`, isEmpty)
    const stopped = signalAll(product, 'rounds', 'SIGSTOP')
    await delay(quietMs)
    const parts = await withDatabase(product, database, (db) => setBack(db, copy))
    note('the database of rounds is set back')
    for (const pid of stopped) process.kill(pid, 'SIGKILL')
    await untilReady(product, ({ name, pid }) => name !== 'gateway' && !stopped.includes(pid))
    await healRounds(copy, { product, tenancies })
    note('the database of rounds is healed')
    return { takenAtMs: copy.takenAtMs, backAtMs: Date.now(), parts }
  } finally {
    for (const pid of gateways) process.kill(pid, 'SIGCONT')
  }
}

async function healRounds(
  { takenAtMs }: Copy,
  { product, tenancies }: { product: Running; tenancies: readonly Account[] },
): Promise<void> {
  const { dataDir } = product
  const from = new Date(takenAtMs - clockOffMs).toISOString()
  const why = ['--yes', '--reason', 'database restored']
  for (const consumer of ['webhooks-fanout', 'rounds-movements'])
    await readOps(dataDir, 'consumer', 'rewind', consumer, '--from-time', from, ...why)
  const accountOf = ({ operatorId, environment }: Account) => [
    ...['--operator', operatorId, '--environment', environment],
  ]
  for (const tenancy of tenancies) {
    const verb = ['round', 'reopened', ...accountOf(tenancy), '--heal', ...why]
    for (let tries = 1; ; tries++) {
      const rows = reopened.parse(await readOps(dataDir, ...verb))
      const left = rows.filter(({ status }) => status === 'PENDING' || status === 'OPEN')
      if (left.length === 0) break
      if (tries === healTries) throw new Error(`rounds stay open again: ${JSON.stringify(left)}`)
      await delay(everyMs)
    }
  }
  await withDatabase(product, database, (db, client) =>
    until(stakesEndWithinMs, 'no stake is pending', async () => {
      for (const tenancy of tenancies)
        await readOps(
          dataDir,
          'movement',
          'restored',
          ...accountOf(tenancy),
          '--from',
          from,
          '--heal',
          ...why,
        )
      const movements = client.db('pitboss_wallet_bridge').collection('movements')
      return (await movements.countDocuments({ type: 'BET', status: 'PENDING' })) === 0
    }),
  )
  for (const tenancy of tenancies) {
    const to = new Date(Date.now() + clockOffMs).toISOString()
    const window = ['--from', from, '--to', to]
    await readOps(dataDir, 'round', 'orphans', ...accountOf(tenancy), ...window, '--heal', ...why)
  }
}

/** @returns what the copy does not know, by account and environment */
async function setBack(db: Db, { collections }: Copy): Promise<ReadonlyMap<string, RestoredPart>> {
  const parts = new Map<string, RestoredPart>()
  const lost = await readDocuments(db)
  const [present, kept] = [roundsIn(lost), roundsIn(collections)]
  for (const [id, round] of present) {
    if (!isDeepStrictEqual(round, kept.get(id))) noteChange(parts, round, kept.get(id))
  }
  const keptClaims = idClaimsIn(collections)
  for (const key of idClaimsIn(lost)) if (!keptClaims.has(key)) noteClaim(parts, key)
  await setBackDocuments(db, collections)
  await prolongRounds(db, new Date(Date.now() + openForMs))
  return parts
}

/** Gives the players of open rounds time until then, by an entry of whoever wrote the last one. */
async function prolongRounds(db: Db, until: Date): Promise<void> {
  const journal = db.collection<JournalDocument<RoundFact>>('journal')
  const set = { lastActionAt: until, sittingEndsAt: new Date(until.getTime() + openForMs) }
  // List documents may be seconds older than the journal.
  for await (const claim of journal.find({ _id: { $gt: `${bookKind}/`, $lt: `${bookKind}/~` } })) {
    if (!('s' in claim)) continue
    const entries = (await journal.find(entriesOf(claim.s), { sort: { _id: 1 } }).toArray()) as RoundEntry[]
    const { fields } = streamState(standingAmong(entries))
    const last = entries.at(-1)
    if (last === undefined || fields?.driver !== 'game' || !isUnfinished(fields)) continue
    await journal.insertOne({
      ...{ _id: entryId(claim.s, entryNumber(last._id) + 1), w: randomBytes(8).toString('hex') },
      ...{ o: last.o, q: last.q, at: new Date(), f: [{ change: { set } }] },
    })
  }
}

/** The rounds that a copy's journal has, by id: its lists may be seconds older. */
function roundsIn(copy: Collections): Map<string, RoundFields> {
  const documents = [...(copy.get('journal')?.values() ?? [])].map((bytes) => BSON.deserialize(bytes))
  const entries = documents.filter((one) => 'f' in one) as unknown as RoundEntry[]
  const streams = Map.groupBy(entries, ({ _id }) => streamOf(_id))
  const found = [...streams.values()].flatMap((own) => {
    const inOrder = own.toSorted((a, b) => (a._id < b._id ? -1 : 1))
    const { fields, isWithdrawn, isPlace } = streamState(standingAmong(inOrder))
    // The place of a nonce whose round is gone is no round.
    return fields === null || isWithdrawn || isPlace ? [] : [[fields._id, fields] as const]
  })
  return new Map(found)
}

/** The claims of ids that clients send. */
function idClaimsIn(copy: Collections): Set<string> {
  const journal = [...(copy.get('journal')?.values() ?? [])].map((bytes) => BSON.deserialize(bytes))
  return new Set(journal.map(({ _id }) => String(_id)).filter((id) => id.startsWith(`${idKind}/`)))
}

function noteChange(
  parts: Map<string, RestoredPart>,
  present: RoundFields,
  kept: RoundFields | undefined,
): void {
  const { _id: id, scope, driver, playerId, game, nonce, transactionIds } = stored.parse(present)
  const part = parts.get(scope) ?? nothingLost()
  parts.set(scope, part)
  if (kept === undefined) part.lost.set(id, { sequence: `${playerId}/${game}`, nonce })
  else if (driver === 'operator') part.changed.add(id)
  // A round that we play is played to the same end again: nothing of it is lost.
  if (kept !== undefined && driver === 'game') return
  for (const one of transactionIds) part.transactionIds.add(one)
}

/** Notes an id that the copy does not claim: of a round, of a movement, or of a request that was refused. */
function noteClaim(parts: Map<string, RestoredPart>, key: string): void {
  const [operatorId, environment, ...own] = key.split('/').slice(2).map(decodeURIComponent)
  const scope = `${operatorId}/${environment}`
  const part = parts.get(scope) ?? nothingLost()
  parts.set(scope, part)
  const [id = '', player = '', game = ''] = own.toReversed()
  part.transactionIds.add(own.length === 1 ? id : requestKey(player, game, id))
}

/** Waits until each process of the product that has probes, and is asked for, runs and is ready. */
async function untilReady(
  product: Running,
  isAsked: (one: { name: string; pid: number }) => boolean,
): Promise<void> {
  await until(readyWithinMs, 'every process is ready', async () => {
    for (const { name, pid, http_url: url } of product.demo().processes) {
      if (name === 'gateway' && pid !== null && !isAsked({ name, pid })) continue
      if (pid === null || (name === 'rounds' && !isAsked({ name, pid }))) return false
      if (url === undefined) continue
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null)
      if (answer?.ok !== true && services.includes(name)) return false
    }
    return true
  })
}

const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

async function until(
  withinMs: number,
  what: string | (() => string),
  isTrue: () => Promise<boolean>,
): Promise<void> {
  const fromMs = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - fromMs > withinMs) {
      throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await delay(everyMs)
  }
}
