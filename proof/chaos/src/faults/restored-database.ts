import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@pitboss/bench/harness/start-product'
import { readOps } from '@pitboss/testing/run-ops'
import { BSON, type Db } from 'mongodb'
import { z } from 'zod'
import { requestKey } from '../check/requests.ts'
import { nothingLost, type Restored, type RestoredPart } from '../check/restored.ts'
import type { Random } from '../random.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { clockOffMs } from './clock-faults.ts'
import {
  type Change,
  type Collections,
  readDocuments,
  setBackDocuments,
  withDatabase,
} from './database-copy.ts'
import { signalAll } from './find-processes.ts'

const database = 'pitboss_rounds'
const readyWithinMs = 90_000
const everyMs = 250
/** Commands that a process had sent when it was stopped have ended by then. */
const quietMs = 700
const drainWithinMs = 15_000
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
  clientTransactionId: z.string().nullable(),
  refusals: z.array(z.looseObject({ transactionId: z.string().optional() })).nullish(),
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
    await until(drainWithinMs, 'the outboxes are empty', async () => (await unsent()).length === 0)
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
  await setBackDocuments(db, collections, (name, change) => {
    if (name === 'rounds') noteChange(parts, change)
  })
  const until = new Date(Date.now() + openForMs)
  await db
    .collection('rounds')
    .updateMany(
      { status: { $in: ['PENDING', 'OPEN'] }, driver: 'game' },
      { $set: { lastActionAt: until, sittingEndsAt: new Date(until.getTime() + openForMs) } },
    )
  return parts
}

function noteChange(parts: Map<string, RestoredPart>, { present, kept }: Change): void {
  const bytes = present ?? kept
  if (bytes === undefined) return
  const { data: round } = stored.safeParse(BSON.deserialize(bytes))
  // The place of a nonce whose round is gone is no round.
  if (round === undefined) return
  const { _id: id, scope, driver, playerId, game, nonce } = round
  const part = parts.get(scope) ?? nothingLost()
  parts.set(scope, part)
  if (kept === undefined) part.lost.set(id, { sequence: `${playerId}/${game}`, nonce })
  else if (driver === 'operator') part.changed.add(id)
  // A round that we play is played to the same end again: nothing of it is lost.
  if (kept !== undefined && driver === 'game') return
  const refused = (round.refusals ?? []).flatMap(({ transactionId }) => transactionId ?? [])
  const own = round.clientTransactionId ?? []
  const key = (id: string) => (driver === 'game' ? requestKey(playerId, game, id) : id)
  for (const one of round.transactionIds) part.transactionIds.add(one)
  for (const one of [...refused, own].flat()) part.transactionIds.add(key(one))
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

async function until(withinMs: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const fromMs = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - fromMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await delay(everyMs)
  }
}
