import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@pitboss/bench/harness/start-product'
import { until } from '@pitboss/bench/harness/until'
import type { Restored, RestoredService } from '../check/restored.ts'
import type { Random } from '../random.ts'
import { type Collections, readDocuments, setBackDocuments, withDatabase } from './database-copy.ts'
import { signalAll } from './find-processes.ts'
import { type HealedAccount, healDatabases } from './heal-databases.ts'
import { lostBetween } from './lost-between.ts'
import { prolongRounds } from './prolong-rounds.ts'
import { untilReady } from './until-ready.ts'

/** Commands that a process had sent when it was stopped have ended by then. */
const quietMs = 700
/**
 * What a process that was killed just before had appended is made up for by the others meanwhile; an entry of
 * unknown fate is looked for once a minute.
 */
const drain = { withinMs: 150_000, everyMs: 250 }
/** The players of open rounds have so long from the restore on, however short the run's times are. */
const openForMs = 60_000
/** From this age on wallet-bridge asks events of a stake. Source: docs/contract.md, section 5. */
const askedOfEventsMs = 80_000
const drawnFromS = 300
const drawnShare = 0.25
const ageMsOf = { least: 3000, most: 25_000 }

/** The sets of databases that a run sets back, by the name of `--restore-database`. */
export const restorable = {
  rounds: ['rounds'],
  'wallet-bridge': ['wallet-bridge'],
  webhooks: ['webhooks'],
  'rounds+wallet-bridge': ['rounds', 'wallet-bridge'],
} as const satisfies Record<string, readonly RestoredService[]>
export type Restorable = keyof typeof restorable

/** The database of a service at one instant. */
export type Copy = {
  readonly service: RestoredService
  readonly takenAtMs: number
  readonly collections: Collections
}

type Parts = { product: Pick<Product, 'demo' | 'dataDir'>; note: (text: string) => void }

export type RestorePlan = {
  /** In the order in which they are copied. */
  readonly services: readonly RestoredService[]
  readonly copyAfterMs: number
  readonly ageMs: number
}

/**
 * What is set back, when the copy is taken, and how old it is when it comes back; null for a run without a
 * restore. A run that is asked for one has it, and of the long ones one in four. It leaves the last two
 * fifths of the run to other faults.
 */
export function planRestore(seconds: number, random: Random, asked: Restorable | null): RestorePlan | null {
  if (asked === null && (seconds < drawnFromS || !random.chance(drawnShare))) return null
  const copyAfterMs = seconds * random.between(200, 350)
  const ageMs = Math.min(random.between(ageMsOf.least, ageMsOf.most), Math.max(ageMsOf.least, seconds * 150))
  const services: readonly RestoredService[] =
    asked === null ? random.pick(Object.values(restorable)) : restorable[asked]
  return { services: random.chance(0.5) ? services : services.toReversed(), copyAfterMs, ageMs }
}

/**
 * Copies the databases of services one after the other, as backups are made: they are about a second apart.
 * Each is as it was at one instant, for its processes stand still meanwhile.
 */
export async function copyDatabases(
  services: readonly RestoredService[],
  { product, note }: Parts,
): Promise<Copy[]> {
  await untilReady(product)
  const copies: Copy[] = []
  for (const service of services) {
    const stopped = signalAll(product, service, 'SIGSTOP')
    try {
      await delay(quietMs)
      const takenAtMs = Date.now()
      const collections = await withDatabase(product, databaseOf(service), readDocuments)
      note(`the database of ${service} is copied`)
      copies.push({ service, takenAtMs, collections })
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT')
    }
  }
  return copies
}

/**
 * Sets databases back to their copies and heals them by the commands of docs/runbook.md, "A restored backup":
 * play is off, the processes of their services are gone, and the events of all entries are recorded.
 */
export async function restoreDatabases(
  copies: readonly Copy[],
  {
    product,
    note,
    tenancies,
    unsent,
    beforeStart = () => Promise.resolve(),
  }: Parts & {
    tenancies: readonly HealedAccount[]
    /** Documents whose events the stream does not have yet. */
    unsent: () => Promise<string[]>
    /** Runs when all is set back and nobody works with it. */
    beforeStart?: () => Promise<void>
  },
): Promise<Restored> {
  await untilReady(product)
  const services = copies.map(({ service }) => service)
  const gateways = signalAll(product, 'gateway', 'SIGSTOP')
  try {
    let waiting: string[] = []
    const isEmpty = async () => (waiting = await unsent()).length === 0
    await until(() => `every entry to be done, but for ${waiting.join(', ')}`, isEmpty, drain)
    const stopped = services.flatMap((service) => signalAll(product, service, 'SIGSTOP'))
    await delay(quietMs)
    // With several set back, events alone know what became of a stake.
    const restMs = Math.max(...copies.map(({ takenAtMs }) => takenAtMs)) + askedOfEventsMs - Date.now()
    if (copies.length > 1) await delay(Math.max(0, restMs))
    const restored: Restored = { services, parts: new Map() }
    for (const copy of copies) await setBack(product, copy, restored)
    note(`the database of ${services.join(' and ')} is set back`)
    await beforeStart()
    for (const pid of stopped) process.kill(pid, 'SIGKILL')
    await untilReady(product, [...gateways, ...stopped])
    const fromMs = Math.min(...copies.map(({ takenAtMs }) => takenAtMs))
    await healDatabases(services, { product, accounts: tenancies, fromMs, note })
    note(`the database of ${services.join(' and ')} is healed`)
    return restored
  } finally {
    for (const pid of gateways) process.kill(pid, 'SIGCONT')
  }
}

async function setBack(
  product: Parts['product'],
  { service, collections }: Copy,
  restored: Restored,
): Promise<void> {
  await withDatabase(product, databaseOf(service), async (db) => {
    lostBetween(collections, await readDocuments(db), service, restored)
    await setBackDocuments(db, collections)
    if (service === 'rounds') await prolongRounds(db, openForMs)
  })
}

function databaseOf(service: RestoredService): string {
  return `pitboss_${service.replaceAll('-', '_')}`
}
