import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import { createHttpClient } from '@pitboss/bench/harness/http-client'
import { addWebhook, registerWallet, signIn } from '@pitboss/bench/harness/operator'
import { raisedLimits } from '@pitboss/bench/harness/raised-limits'
import { startProduct } from '@pitboss/bench/harness/start-product'
import { createAnswers } from './answers.ts'
import { repeatRequests } from './repeat-requests.ts'
import { checkAnswers } from './check/check-answers.ts'
import { checkCalls } from './check/check-calls.ts'
import { checkEvents } from './check/check-events.ts'
import { checkGrants } from './check/check-grants.ts'
import { checkLadder } from './check/check-ladder.ts'
import { checkMoney } from './check/check-money.ts'
import { checkRefusals } from './check/check-refusals.ts'
import { checkRounds } from './check/check-rounds.ts'
import { checkSchedule } from './check/check-schedule.ts'
import { checkTotals } from './check/check-totals.ts'
import { readDeliveries, readSources, readTries, type Sources } from './check/sources.ts'
import { createVerdict, type Invariant } from './check/verdict.ts'
import type { ClientDeps } from './clients/client.ts'
import { driveRounds } from './clients/operator-server.ts'
import { play, type PlayerPlan } from './clients/player.ts'
import { pollEvents } from './clients/poll-events.ts'
import { clockOffMs, disturbClocks } from './faults/clock-faults.ts'
import { createFaultCounts } from './faults/fault-counts.ts'
import { disturbNetwork } from './faults/network-faults.ts'
import { startStubbornReceiver } from './faults/stubborn-receiver.ts'
import { disturbProcesses } from './faults/process-faults.ts'
import { disturbReceiver } from './faults/receiver-faults.ts'
import { disturbWallet } from './faults/wallet-faults.ts'
import { heal, type Healing } from './heal.ts'
import { startServiceLinks } from './network/service-links.ts'
import { createOperatorClient } from './operator-client.ts'
import { createRandom } from './random.ts'

export type ChaosOptions = {
  seconds: number
  seed: number
  /** As for `npm start -- --replicas`; empty for one of each. */
  replicas: string
  timeScale: number
  faults: boolean
  load: ChaosLoad
  /** Place where the faults are to be thickest; none in particular unless told. */
  stress?: { moods?: readonly string[]; favourite?: string }
  /** Time that everything has to heal and end. */
  healWithinMs: number
  /** Settings that the product's processes get beyond the usual. */
  environment: NodeJS.ProcessEnv
}

/** Number of clients of each kind. */
export type ChaosLoad = { players: number; drivers: number }

export const fullLoad: ChaosLoad = { players: 15, drivers: 6 }
export const healWithinMs = 150_000

export type ChaosReport = {
  seed: number
  seconds: number
  faults: Record<string, number>
  answers: Record<string, number>
  counts: Record<string, number>
  healing: Healing
  /** Milliseconds until a killed service answered again, with the engines up. */
  back: { kills: number; medianMs: number; mostMs: number }
  invariants: Invariant[]
  /** Time from the first client's start to the verdict. */
  tookMs: number
  diary: string[]
}

const walletTimeoutMs = 1000
const warmUpMs = 2000
/** Number of movements and deliveries of which each single try is looked at. */
const triesRead = 200
const deliveriesRead = 200
const startingBalance = '1000.00'
const richBalance = '1000000000.00'

/** Plays, torments, heals, and compares what four sources say. */
export async function runChaos(
  {
    seconds,
    seed,
    replicas,
    timeScale,
    faults: withFaults,
    load: size,
    stress = {},
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
  const product = await startProduct({
    dataDir: join(folder, 'data'),
    logPath: join(folder, 'product.log'),
    flags: replicas === '' ? [] : ['--replicas', replicas],
    environment: {
      ...raisedLimits,
      PITBOSS_TIME_SCALE: String(timeScale),
      PITBOSS_LOG_LEVEL: 'info',
      ...links.environment,
      ...environment,
    },
    cleanup,
  })
  const demo = product.demo()
  const http = createHttpClient(demo.base_url, 1)
  await registerWallet(http, demo, demo.wallet.url, walletTimeoutMs)
  const receiver = await startStubbornReceiver()
  cleanup.add(() => receiver.close())
  const stubborn = { ...receiver, webhookId: await addWebhook(http, demo, receiver.url) }
  const personToken = await signIn(http, demo)
  await http.close()
  const operator = await createOperatorClient(demo, demo.test)
  const live = await createOperatorClient(demo, demo.live)

  const startedAtMs = Date.now()
  const clockSlackMs = withFaults ? 2 * clockOffMs : 0
  // By the clock that is furthest behind.
  const since = new Date(startedAtMs - clockSlackMs).toISOString()
  const diary: string[] = []
  const note = (text: string) => diary.push(`${new Date().toISOString()} ${text}`)
  const load = new AbortController()
  const torments = new AbortController()
  const answers = createAnswers()
  const counts = createFaultCounts()
  const clientDeps = (name: string): ClientDeps => ({
    operator,
    answers,
    random: random.fork(name),
    stopping: load.signal,
  })
  const { poller, done: polling } = pollEvents(clientDeps('poller'))
  const clients = [
    ...playerPlans(size.players).map((plan) => play(clientDeps(plan.playerId), plan)),
    ...Array.from({ length: size.drivers }, (_, index) =>
      driveRounds(clientDeps(`op-${index}`), { playerId: `rich-op-${index}`, workers: 1 + (index % 2) }),
    ),
    polling,
  ]
  await delay(warmUpMs)
  say(`${clients.length} clients at work; ${withFaults ? `faults for ${seconds} s` : 'no faults'}`)
  const faultDeps = (name: string) => ({
    random: random.fork(name),
    counts,
    stopping: torments.signal,
    note,
  })
  const tormenting = withFaults
    ? Promise.all([
        disturbProcesses({ product, ...faultDeps('processes'), favourite: stress.favourite }),
        disturbWallet({ walletUrl: demo.wallet.url, ...faultDeps('wallet'), moods: stress.moods }),
        disturbReceiver({ receiverUrl: demo.receiver.url, ...faultDeps('receiver') }),
        disturbNetwork({ links, ...faultDeps('network') }),
        disturbClocks({ links, ...faultDeps('clocks') }),
      ])
    : Promise.resolve(null)
  await delay(seconds * 1000)
  torments.abort()
  const tormented = await tormenting
  links.calm()
  // What is asked while everything heals is asked for real, too.
  await delay(warmUpMs)
  load.abort()
  await Promise.all(clients)
  say('faults are over, load has ended')
  if (!product.alive())
    throw new Error(`the stack's own process died; its log: ${join(folder, 'product.log')}`)

  const healing = await heal({
    demo,
    operator,
    since,
    withinMs: healMs,
    refused: stubborn.refused,
    verdict,
    say,
  })
  const compared = await compare().catch((error: unknown) => {
    verdict.check('life: everything can be read at the end', false, () => String(error))
    return null
  })

  const backMs = (tormented?.[0].backMs ?? []).toSorted((a, b) => a - b)
  return {
    seed,
    seconds,
    faults: counts.all(),
    answers: answers.counts(),
    counts: { answers: answers.all().length, ...(compared === null ? {} : countsOf(compared)) },
    healing,
    back: {
      kills: backMs.length,
      medianMs: Math.round(backMs[Math.floor(backMs.length / 2)] ?? 0),
      mostMs: Math.round(backMs.at(-1) ?? 0),
    },
    invariants: verdict.invariants(),
    tookMs: Date.now() - startedAtMs,
    diary,
  }

  async function compare(): Promise<Sources> {
    await poller.catchUp()
    const sources = await readSources(demo, operator, live, since, clockSlackMs)
    const startOf = (playerId: string) =>
      playerId.startsWith('rich') ? richBalance : playerId.startsWith('broke') ? '0.00' : startingBalance
    checkMoney(sources, startOf, verdict)
    checkCalls(sources.calls, sources.movements, walletTimeoutMs, verdict)
    checkRounds(sources, verdict)
    checkTotals(sources, verdict)
    checkGrants(sources, verdict)
    checkEvents(sources, poller.ids, demo.receiver.webhook_id, verdict)
    checkAnswers(answers.all(), sources, verdict)
    checkRefusals(answers.all(), sources, verdict)
    checkLadder(await readTries(sources.movements, operator, triesRead), { timeScale, clockSlackMs }, verdict)
    const odd = sources.deliveries.filter(
      ({ status, event_id, webhook_id }) =>
        status === 'FAILED' || (webhook_id === stubborn.webhookId && stubborn.refused.has(event_id)),
    )
    const details = await readDeliveries(odd.slice(0, deliveriesRead), operator, personToken)
    checkSchedule(sources, { details, stubborn, timeScale }, verdict)
    await repeatRequests(answers.all(), sources, operator, verdict)
    const after = await readSources(demo, operator, live, since, clockSlackMs)
    verdict.check(
      'answers: asked again at the end, the record is answered and nothing moves',
      after.ledger.length === sources.ledger.length && after.movements.length === sources.movements.length,
      () =>
        `ledger ${sources.ledger.length} → ${after.ledger.length}, movements ${sources.movements.length} → ${after.movements.length}`,
    )
    return sources
  }
}

function countsOf({
  rounds,
  movements,
  ledger,
  events,
  deliveries,
  received,
}: Sources): Record<string, number> {
  return {
    rounds: rounds.length,
    movements: movements.length,
    'ledger entries': ledger.length,
    events: events.length,
    deliveries: deliveries.length,
    'deliveries received': received.length,
  }
}

/** All three games, some players with free bets, and one of each kind that the sandbox wallet refuses. */
function playerPlans(players: number): PlayerPlan[] {
  const games = ['dice', 'dice', 'mines', 'mines', 'spin-bottle'] as const
  const plans = Array.from({ length: players }, (_, index): PlayerPlan => {
    const game = games[index % games.length] ?? 'dice'
    return {
      playerId: `rich-${game}-${index}`,
      game,
      freeBets: index % 5 === 4 || index === 1,
      tabs: index % 2 === 1 ? 2 : 1,
    }
  })
  const refused = ['broke', 'blocked', 'limited'].map(
    (kind): PlayerPlan => ({ playerId: `${kind}-player`, game: 'dice', freeBets: false, tabs: 1 }),
  )
  return [...plans, ...refused]
}
