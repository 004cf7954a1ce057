import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import { createHttpClient } from '@pitboss/bench/harness/http-client'
import { addWebhook } from '@pitboss/bench/harness/operator'
import { raisedLimits } from '@pitboss/bench/harness/raised-limits'
import { startProduct } from '@pitboss/bench/harness/start-product'
import { admitPlay } from './admit-play.ts'
import type { Absence } from './check/absences.ts'
import { checkHappened, type Happened } from './check/check-happened.ts'
import type { Sources } from './check/sources.ts'
import { createVerdict, type Invariant, type Verdict } from './check/verdict.ts'
import { watchDatabase } from './check/watch-database.ts'
import type { ClientDeps } from './clients/client.ts'
import { pollEvents } from './clients/poll-events.ts'
import { type Compared, compareSources } from './compare-sources.ts'
import { clockOffMs } from './faults/clock-faults.ts'
import { type Restored } from './check/restored.ts'
import { disturb, type Stress } from './faults/disturb.ts'
import { createFaultCounts } from './faults/fault-counts.ts'
import { restoreOnce } from './faults/restore-once.ts'
import { planRestore, type Restorable } from './faults/restored-database.ts'
import { mountSmallDisk } from './faults/small-disk.ts'
import { startStubbornReceiver, stubbornnesses } from './faults/stubborn-receiver.ts'
import { heal, type Healing } from './heal.ts'
import { judgeRun } from './judge/judge-run.ts'
import { startServiceLinks } from './network/service-links.ts'
import { openTenancies, type Tenancy } from './open-tenancies.ts'
import { createRandom, type Random } from './random.ts'
import { type ChaosLoad, startClients } from './start-clients.ts'

export type ChaosOptions = {
  seconds: number
  seed: number
  /** As for `npm start -- --replicas`; empty for one of each. */
  replicas: string
  timeScale: number
  faults: boolean
  load: ChaosLoad
  stress?: Stress
  /** Faults of the broker that a run has only when it is told to. */
  broker?: { fullDisk: boolean; lostStream: boolean }
  /** The databases that are set back once; a long run does so by draw. */
  restore?: Restorable | null
  /** Time that everything has to heal and end. */
  healWithinMs: number
  /** Settings that the product's processes get beyond the usual. */
  environment: NodeJS.ProcessEnv
}

export const fullLoad: ChaosLoad = { players: 15, drivers: 6 }
export const healWithinMs = 150_000

export type ChaosReport = {
  seed: number
  seconds: number
  faults: Record<string, number>
  answers: Record<string, number>
  counts: Record<string, number>
  happened: Happened
  healing: Healing
  /** Milliseconds until a killed service answered again, with the engines up. */
  back: { kills: number; medianMs: number; mostMs: number }
  invariants: Invariant[]
  /** Time from the first client's start to the verdict. */
  tookMs: number
}

const warmUpMs = 2000
/** Longer than a wallet's breaker waits for its next probe. */
const admitWithinMs = 15_000
const brokerDiskMb = 512

/** Plays, torments, heals, and compares what four sources say of every account and environment. */
export async function runChaos(
  {
    seconds,
    seed,
    replicas,
    timeScale,
    faults: withFaults,
    load: size,
    stress = {},
    broker = { fullDisk: false, lostStream: false },
    restore = null,
    healWithinMs: healMs,
    environment,
  }: ChaosOptions,
  folder: string,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<ChaosReport> {
  const random = createRandom(seed)
  const verdict = createVerdict()
  say(`seed ${seed}: starting the product`)
  const links = await startServiceLinks()
  cleanup.add(() => links.close())
  const dataDir = join(folder, 'data')
  const diaryPath = join(folder, 'diary.txt')
  writeFileSync(diaryPath, '')
  const disk = broker.fullDisk ? mountSmallDisk(join(dataDir, 'nats'), brokerDiskMb) : null
  if (disk !== null) cleanup.add(() => disk.unmount())
  const product = await startProduct({
    dataDir,
    logPath: join(folder, 'product.log'),
    flags: replicas === '' ? [] : ['--replicas', replicas],
    environment: {
      ...raisedLimits,
      PITBOSS_TIME_SCALE: String(timeScale),
      PITBOSS_LOG_LEVEL: 'info',
      // A broker reserves what its stream may hold.
      ...(disk === null ? {} : { PITBOSS_EVENTS_MAX_MB: String(brokerDiskMb / 2) }),
      ...links.environment,
      ...environment,
    },
    cleanup,
  })
  const demo = product.demo()
  const byName = await openTenancies({ product, folder, random, cleanup })
  const tenancies = Object.values(byName)
  const receiver = await startStubbornReceiver(random.fork('receiver').pick(stubbornnesses))
  cleanup.add(() => receiver.close())
  const http = createHttpClient(demo.base_url, 1)
  const stubborn = { ...receiver, webhookId: await addWebhook(http, demo, receiver.url) }
  await http.close()
  const watch = watchDatabase(demo.engines.mongodb.url, verdict)
  cleanup.add(() => watch.close())

  const startedAtMs = Date.now()
  // Wrong clocks make the comparison of times coarse, so half of the runs have none.
  const withClocks = withFaults && random.fork('clocks').chance(0.5)
  const clockSlackMs = withClocks ? 2 * clockOffMs : 0
  // By the clock that is furthest behind.
  const since = new Date(startedAtMs - clockSlackMs).toISOString()
  // Written as it happens: a run that fails half-way needs it most.
  const note = (text: string) => appendFileSync(diaryPath, `${new Date().toISOString()} ${text}\n`)
  const load = new AbortController()
  const counts = createFaultCounts()
  const depsOf =
    ({ name, operator, answers }: Tenancy) =>
    (client: string): ClientDeps => ({
      operator,
      answers,
      random: random.fork(name === 'test' ? client : `${name} ${client}`),
      stopping: load.signal,
    })
  const { poller, done: polling } = pollEvents(depsOf(byName.test)('poller'))
  const clients = [...tenancies.flatMap((tenancy) => startClients(tenancy, size, depsOf(tenancy))), polling]
  await delay(warmUpMs)
  say(`${clients.length} clients at work; ${withFaults ? `faults for ${seconds} s` : 'no faults'}`)
  const faultsOf = { product, tenancies, links, stress, counts, note, disk, withClocks }
  const backs: number[] = []
  const absences: Absence[] = []
  /** Faults of so many ms; afterwards nothing is disturbed. */
  const torment = async (own: Random, ms: number) => {
    const over = new AbortController()
    const given = { ...faultsOf, random: own, stopping: over.signal, lostStream: broker.lostStream }
    const tormenting = withFaults ? disturb(given) : Promise.resolve(null)
    await delay(Math.max(0, ms))
    over.abort()
    const torment = await tormenting
    backs.push(...(torment?.backMs ?? []))
    absences.push(...(torment?.absences ?? []))
  }
  const plan = planRestore(seconds, random.fork('restore'), restore ?? stress.restore ?? null)
  let restored: Restored | null = null
  let untilMs = Date.now() + seconds * 1000
  if (plan !== null) {
    await torment(random, plan.copyAfterMs)
    let fromMs = 0
    restored = await restoreOnce(plan, {
      ...{ product, tenancies, note, unsent: watch.unsent },
      async torment(ms) {
        await torment(random.fork('before the restore'), ms)
        fromMs = Date.now()
      },
    })
    const what = `database of ${plan.services.join(' and ')}`
    counts.add(`${what} restored`)
    say(`the ${what} was set back and healed`)
    untilMs += Date.now() - fromMs
    for (const { name: service, replica } of demo.processes)
      if (plan.services.some((one) => one === service))
        absences.push({ service, replica, fromMs, untilMs: Date.now() })
  }
  await torment(plan === null ? random : random.fork('after the restore'), untilMs - Date.now())
  // What is asked while everything heals is asked for real, too.
  await delay(warmUpMs)
  load.abort()
  await Promise.all(clients)
  say('faults are over, load has ended')
  if (!product.alive())
    throw new Error(`the stack's own process died; its log: ${join(folder, 'product.log')}`)

  const healing = await heal({
    ...{ demo, tenancies, since, verdict, say },
    withinMs: healMs,
    unsent: watch.unsent,
    isRefused: ({ webhook_id, event_id, event_type }) =>
      webhook_id === stubborn.webhookId &&
      stubborn.refuses({ id: String(event_id), type: String(event_type) }),
  })
  const compared = (await Promise.all(tenancies.map((tenancy) => compare(tenancy)))).flatMap(
    (one) => one ?? [],
  )
  await judgeRun(join(folder, 'books.json'), compared, verdict)
  await admitPlay(tenancies, { withinMs: admitWithinMs, verdict })
  const elections = links.all().reduce((sum, { database }) => sum + sumOf(database?.met() ?? {}), 0)
  const happened = {
    ...whatHappened(compared),
    election: elections,
    'lease takeover': await watch.takeovers(),
  }
  const alarms = await watch.returnAlarms()
  verdict.check('returns: fair games raise no alarm', alarms.length === 0, () => alarms.join(' '))
  if (withFaults) checkHappened(happened, seconds, verdict)
  const answers = tenancies.flatMap((tenancy) => tenancy.answers.all())

  const backMs = backs.toSorted((a, b) => a - b)
  return {
    seed,
    seconds,
    faults: counts.all(),
    answers: byName.test.answers.counts(),
    counts: { answers: answers.length, ...countsOf(compared.map(({ sources }) => sources)) },
    happened,
    healing,
    back: {
      kills: backMs.length,
      medianMs: Math.round(backMs[Math.floor(backMs.length / 2)] ?? 0),
      mostMs: Math.round(backMs.at(-1) ?? 0),
    },
    invariants: verdict.invariants(),
    tookMs: Date.now() - startedAtMs,
  }

  /** Null when what is to be compared could not be read. */
  async function compare(tenancy: Tenancy): Promise<Compared | null> {
    const own: Verdict = {
      ...verdict,
      check: (name, holds, broken) => verdict.check(name, holds, () => `${tenancy.name}: ${broken()}`),
    }
    const { length: replicas } = demo.processes.filter(({ name }) => name === 'wallet-bridge')
    const times = absences.filter(({ service }) => service === 'wallet-bridge')
    const given = { demo, stubborn, since, restored, timeScale, clockSlackMs }
    const rest = { ...given, absences: { replicas, times }, verdict: own }
    try {
      return await compareSources(tenancy, { ...rest, poller: tenancy.name === 'test' ? poller : null })
    } catch (error) {
      own.check('life: everything can be read at the end', false, () => String(error))
      return null
    }
  }
}

function countsOf(all: readonly Sources[]): Record<string, number> {
  const count = (of: (sources: Sources) => readonly unknown[]) =>
    all.reduce((sum, sources) => sum + of(sources).length, 0)
  return {
    rounds: count(({ rounds }) => rounds),
    movements: count(({ movements }) => movements),
    'ledger entries': count(({ ledger }) => ledger),
    'wallet calls': count(({ calls }) => calls),
    events: count(({ events }) => events),
    deliveries: count(({ deliveries }) => deliveries),
    'deliveries received': count(({ received }) => received),
  }
}

function whatHappened(compared: readonly Compared[]): Omit<Happened, 'election' | 'lease takeover'> {
  const happened = { rollback: 0, tombstone: 0, 'lost call': 0, 'reversal before record': 0 }
  for (const { sources, tried } of compared) {
    const created = new Map(sources.movements.map((one) => [one.transaction_id, one.created_at]))
    for (const { type, status, reference_transaction_id: id, created_at: at } of sources.movements) {
      if (type !== 'ROLLBACK' || status !== 'SUCCESS') continue
      happened.rollback += 1
      // A stake is recorded with the reversal that overtook it, in the same millisecond.
      if (Math.abs(Date.parse(created.get(id ?? '') ?? '') - Date.parse(at)) <= 1)
        happened['reversal before record'] += 1
    }
    happened.tombstone += sources.ledger.filter(({ status }) => status === 'TOMBSTONE').length
    for (const { attempts } of tried) {
      happened['lost call'] += attempts.filter(
        ({ classification, request }) => classification === 'UNKNOWN' && request === null,
      ).length
    }
  }
  return happened
}

function sumOf(numbers: Readonly<Record<string, number>>): number {
  return Object.values(numbers).reduce((sum, number) => sum + number, 0)
}
