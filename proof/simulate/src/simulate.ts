import type { Bug } from '@pitboss/bugs/bugs'
import { scopeKey } from '@pitboss/rounds/storage/round-document'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import { parseAmount } from '@pitboss/money/amount'
import { createAccepted } from './accepted.ts'
import { createAnswers } from '@pitboss/chaos/answers'
import { createRandom } from '@pitboss/chaos/random'
import { type BridgeProcess, startBridge } from './bridge-process.ts'
import { BrokenInvariant, createStepChecks } from './check-steps.ts'
import type { ClientDeps } from './clients/client.ts'
import { driveRounds, endOpenRounds } from './clients/operator-server.ts'
import { freeBetStake, playGame } from './clients/player.ts'
import { askAsStranger } from './clients/stranger.ts'
import { compareSources } from './compare-sources.ts'
import { createMachine, type Machine } from './machine.ts'
import { createHabits } from './habits.ts'
import { createModelBus } from './model-bus.ts'
import { createModelGrants } from './model-grants.ts'
import { createModelMovements } from './model-movements.ts'
import { createModelRounds } from './model-rounds.ts'
import { createModelStream } from './model-stream.ts'
import { createModelWallet } from './model-wallet.ts'
import { checkRestored, healRounds } from './restore-rounds.ts'
import { startRounds } from './rounds-process.ts'
import { createTimeline } from './timeline.ts'
import { createFaults } from './faults.ts'
import { listUnfinished } from './list-unfinished.ts'
import { type Mistake, scope, type World } from './world.ts'

export type Simulation = {
  readonly seed: number
  readonly steps: number
  readonly rounds: number
  readonly movements: number
  /** The first promise that was broken, or null. */
  readonly violation: string | null
  /** Name of the promise; violations of one promise share it. */
  readonly promise: string | null
  readonly trace: readonly string[]
}

const stormMs = 15_000
/** Longer than the envelope of a stake. */
const outageMs = 17_000
const healWithinMs = 2 * 3_600_000
/** From the death of the processes of rounds to the restore: what they had asked for has arrived. */
const quietMs = 20_000
/** The restore, after the beginning; and at most so long before it, the state that is restored. */
const restoredAfterMs = { least: 24_000, most: 30_000 }
const backupAgeMs = 6000
const pauseMs = { least: 200, most: 12_000 }
/** As long as an election leaves an old primary in the belief that it is one. */
const lagMs = { least: 50, most: 12_000 }
/** Longer than the network of the model holds a call back. */
const lateMs = 45_000
const stepsMax = 400_000
const traceMax = 100_000
/** Looking whether all is at rest takes longer than a step. */
const restLookedAtEvery = 16

/**
 * One run on a time of its own: two rounds, two wallet-bridges, a wallet, players and an operator's server,
 * with faults that the seed decides; then without faults, when everything must end. The promises of
 * `check-steps.ts` are looked at in every step, those of the chaos run's checker at the end. The same seed is
 * the same run, to the last step.
 */
export async function simulate(
  seed: number,
  {
    mistake = {},
    harsh = false,
    withTrace = false,
  }: { mistake?: Mistake; harsh?: boolean; withTrace?: boolean } = {},
): Promise<Simulation> {
  const random = createRandom(seed)
  const timeline = createTimeline()
  const faults = createFaults(random.fork('weather'), { harsh })
  const habits = createHabits(random.fork('habits'))
  // Mistaken rules of movements have life's own delays.
  const timeScale = mistake.movementRules === undefined ? habits.timeScale : 1
  const trace: string[] = []
  const answers = createAnswers()
  const asked = new Set<string>()
  let violation: string | null = null
  let promise: string | null = null
  let ids = 0
  const number = () => String((ids += 1))

  const note = (line: string) => {
    if (withTrace && trace.length < traceMax) trace.push(`${timeline.now().toISOString()} ${line}`)
  }
  const broken = (error: unknown) => {
    const text = error instanceof BrokenInvariant ? error.message : `unexpected: ${String(error)}`
    note(`BROKEN ${text}`)
    if (violation !== null) return
    violation = text
    promise = error instanceof BrokenInvariant ? error.promise : 'nothing unexpected is thrown'
  }
  /** A broken promise ends the run; the process that broke it gets no notice, as in life. */
  const watched =
    <Args extends unknown[], Result>(check: (...args: Args) => Result, otherwise: Result) =>
    (...args: Args): Result => {
      try {
        return check(...args)
      } catch (error) {
        broken(error)
        return otherwise
      }
    }

  const checks = createStepChecks(() => world, asked)
  const accepted = createAccepted(() => timeline.nowMs())
  const bug = mistake.bug ?? null
  const has = (name: Bug) => bug === name
  const movements = createModelMovements({
    nowMs: timeline.nowMs,
    onWrite: (before, after) => {
      note(`${after.type} ${after.transactionId}: ${before?.status ?? 'new'} → ${after.status}`)
      watched(checks.movementWritten, undefined)(before, after)
    },
  })
  const rounds = createModelRounds({
    seed,
    nowMs: timeline.nowMs,
    onWrite: (before, after, dueAt) => {
      note(`round ${after.id}: ${after.history.at(-1)?.what ?? ''} (${after.status})`)
      accepted.roundWritten(before, after)
      watched(checks.roundWritten, undefined)(before, after, dueAt)
    },
  })
  const stream = createModelStream((entry) => {
    note(`event ${entry.subject} ${entry.id}`)
    watched(checks.eventRecorded, undefined)(entry)
    hint(entry.body)
  })
  const wallet = createModelWallet({
    timeline,
    random: random.fork('wallet'),
    faults,
    trace: note,
    startingBalance: habits.startingBalance,
    onEntry: watched(checks.walletMoved, undefined),
    onCall: (roundId, machine) => watched(checks.callSent, () => undefined)(roundId, () => machine.isAlive()),
  })
  const world: World = {
    timeline,
    random,
    faults,
    movements,
    rounds,
    grants: createModelGrants({ now: () => timeline.now() }),
    stream,
    wallet,
    bus: createModelBus({ timeline, random: random.fork('bus'), faults }),
    bridges: {
      tell(from, note) {
        for (const [name, bridge] of bridges) if (name !== from.name) bridge.hear(note)
      },
    },
    mistake,
    scaleMs: (ms) => ms / timeScale,
    has,
    newId: (prefix) => `${prefix}_${number().padStart(26, '0')}`,
    newUuid: () => `00000000-0000-4000-8000-${number().padStart(12, '0')}`,
    trace: note,
    onError: broken,
  }

  const sessions = new Map<string, SessionDocument>()
  const machines = new Map<string, Machine>()
  const bridges = new Map<string, BridgeProcess>()
  /** Clocks outlive the processes of their machines. */
  const clocks = new Map<string, number>()
  const hints = new Map<string, (roundId: string) => void>()
  const disturbance = random.fork('faults')
  let bridgesBackAtMs = 0
  let isRestoring = false
  for (const name of ['rounds-1', 'rounds-2', 'bridge-1', 'bridge-2']) start(name)
  if (faults.crash > 0) timeline.after(disturbance.between(100, 2000), disturb)
  timeline.after(disturbance.between(100, 2000), meddle)

  const endsAtMs = timeline.nowMs() + stormMs + (faults.restore ? restoredAfterMs.most : 0)
  if (faults.restore) restoreRounds()
  const tabs = habits.tabs
  const clients = startClients()
  let clientsLeft = clients.length
  for (const client of clients) client.then(() => clientsLeft--, broken)

  let steps = 0
  await runUntil(() => timeline.nowMs() >= endsAtMs)
  faults.clear()
  movements.reads.clear()
  rounds.reads.clear()
  note('the faults are over')
  let ending = false
  const healedByMs = timeline.nowMs() + healWithinMs
  await runUntilRest()
  const lateUntilMs = timeline.nowMs() + lateMs
  await runUntil(() => timeline.nowMs() >= lateUntilMs)
  // A request that its client had given up may have begun something as late as this.
  await runUntilRest()
  if (violation === null) {
    let asking = true
    askAsStranger(world)
      .catch(broken)
      .finally(() => (asking = false))
    await runUntil(() => !asking)
  }
  if (violation === null && faults.restore) await healOnceMore()
  if (violation === null && faults.restore) watched(checkRestored, undefined)(world)
  else if (violation === null) {
    const { startingBalance } = habits
    watched(compareSources, undefined)(world, {
      ...{ answers, accepted: accepted.all(), startingBalance },
      clockSlackMs: 2 * faults.clockOffMs,
    })
  }
  return {
    seed,
    steps,
    rounds: rounds.table.size,
    movements: movements.table.size,
    violation,
    promise,
    trace,
  }

  /** What was on its way during the first time may have come since. */
  async function healOnceMore(): Promise<void> {
    let healing = true
    healRounds(createOperations(), world)
      .catch(broken)
      .finally(() => (healing = false))
    await runUntil(() => !healing)
    await runUntilRest()
  }

  async function runUntilRest(): Promise<void> {
    await runUntil(
      () =>
        timeline.nowMs() >= healedByMs ||
        (clientsLeft === 0 && steps % restLookedAtEvery === 0 && listUnfinished(world) === ''),
    )
    const left = listUnfinished(world)
    if (violation === null && !(left === '' && clientsLeft === 0))
      broken(new BrokenInvariant('everything ends', left))
  }

  async function runUntil(isReached: () => boolean): Promise<void> {
    while (violation === null && !isReached()) {
      steps += 1
      if (steps > stepsMax)
        return broken(
          new BrokenInvariant('everything ends', `not in ${stepsMax} steps; ${listUnfinished(world)}`),
        )
      if (!(await timeline.step())) return
      if (faults.fair() && !ending && clientsLeft === 0) endWhatIsOpen()
    }
  }

  function start(name: string): void {
    const machine = createMachine(name, {
      timeline,
      random: random.fork(`${name}/${timeline.nowMs()}`),
      faults,
      trace: note,
      clockAheadMs: () => (faults.fair() ? 0 : (clocks.get(name) ?? 0)),
      onDeath: () => {
        const outMs = name.startsWith('bridge') ? bridgesBackAtMs - timeline.nowMs() : 0
        timeline.after(Math.max(outMs, disturbance.between(100, 3000)), () => {
          if (!isRestoring || name.startsWith('bridge')) start(name)
        })
      },
    })
    machines.set(name, machine)
    if (name.startsWith('bridge')) bridges.set(name, startBridge(machine, world))
    else hints.set(name, startRounds(machine, world, sessions).hint)
  }

  /** Takes the processes of rounds away, sets their collection back, and heals as the runbook says. */
  function restoreRounds(): void {
    const ageMs = disturbance.between(1, backupAgeMs)
    const downAtMs = disturbance.between(restoredAfterMs.least, restoredAfterMs.most) - quietMs
    const names = ['rounds-1', 'rounds-2']
    timeline.after(Math.max(1, downAtMs - ageMs), () => {
      const backup = new Map(rounds.table)
      timeline.after(ageMs, () => {
        isRestoring = true
        for (const name of names) machines.get(name)?.kill()
      })
      timeline.after(ageMs + quietMs, () => {
        note(`the rounds are set back, ${rounds.table.size} to ${backup.size}`)
        rounds.restore(backup)
        healRounds(createOperations(), world).then(() => {
          isRestoring = false
          note('the rounds are healed')
          for (const name of names) start(name)
        }, broken)
      })
    })
  }

  /** A machine that nothing disturbs. */
  function createOperations(): Machine {
    const fair = { ...faults, fair: () => true }
    const at = { timeline, random: random.fork('operations'), faults: fair, trace: note }
    return createMachine('operations', { ...at, onDeath: () => undefined })
  }

  /** Kills and pauses whole processes, besides what happens to them step by step. */
  function disturb(): void {
    if (faults.fair()) return
    const machine = machines.get(disturbance.pick([...machines.keys()]))
    if (disturbance.chance(faults.outage)) {
      bridgesBackAtMs = timeline.nowMs() + outageMs
      for (const [name, one] of machines) if (name.startsWith('bridge')) one.kill()
    } else if (disturbance.chance(0.5)) machine?.kill()
    else machine?.pause(disturbance.between(pauseMs.least, pauseMs.most))
    timeline.after(disturbance.between(200, 4000), disturb)
  }

  /** Steps clocks; has the wallet and people speak of movements that wait. */
  function meddle(): void {
    if (faults.fair()) return
    const { clockOffMs } = faults
    if (clockOffMs > 0) {
      const name = disturbance.pick([...machines.keys()])
      clocks.set(name, disturbance.between(-clockOffMs, clockOffMs))
      note(`the clock of ${name} is ${clocks.get(name)} ms ahead`)
    }
    if (disturbance.chance(faults.lag)) {
      const name = disturbance.pick([...machines.keys()])
      const ms = disturbance.between(lagMs.least, lagMs.most)
      const { reads } = name.startsWith('bridge') ? movements : rounds
      reads.begin(name, ms)
      note(`the reads of ${name} lag for ${ms} ms, or until it writes`)
    }
    const waiting = [...movements.table.values()].filter(({ status }) => status === 'PENDING')
    const bridge = disturbance.pick([...bridges.values()])
    if (waiting.length > 0 && disturbance.chance(faults.callbacks)) {
      const { transactionId } = disturbance.pick(waiting)
      note(`the wallet calls back about ${transactionId}`)
      bridge.callBack(transactionId)
    }
    const done = waiting.filter((movement) => wallet.hasDone(movement))
    if (done.length > 0 && disturbance.chance(faults.people)) {
      const movement = disturbance.pick(done)
      note(`a person resolves ${movement.transactionId}, which the wallet has done`)
      bridge.resolveAsDone(movement)
    }
    timeline.after(disturbance.between(200, 3000), meddle)
  }

  /** Works as the durable consumer of rounds: at least once, in some process. */
  function hint(body: string): void {
    const roundId = /"round_id":"([^"]+)"/.exec(body)?.[1]
    if (roundId === undefined) return
    for (let times = disturbance.between(0, 2); times > 0; times--) {
      const take = hints.get(disturbance.pick(['rounds-1', 'rounds-2']))
      timeline.after(disturbance.between(1, 5000), () => take?.(roundId))
    }
  }

  function startClients(): Promise<void>[] {
    const players = (['dice', 'mines', 'mines', 'dice'] as const).flatMap((game, index) => {
      const session = sit(`player-${index}`, game)
      const freeBets = index < 2 ? habits.freeBets : 0
      if (freeBets > 0) grantFreeBets(session)
      return tabs.map((tab) => playGame(clientDeps(`${session.playerId}${tab}`), { session, tab, freeBets }))
    })
    const drivers = [1, 2].flatMap((index) => {
      const session = sit(`driver-${index}`, 'dice')
      return tabs.map((worker) =>
        driveRounds(clientDeps(`${session.playerId}${worker}`), {
          session,
          worker,
          impatience: habits.impatience,
        }),
      )
    })
    return [...players, ...drivers]
  }

  function clientDeps(name: string): ClientDeps {
    const { patienceMs, doubled } = habits
    return { world, random: random.fork(name), answers, asked, endsAtMs, patienceMs, doubled }
  }

  /** Few in each, so that some are used up, and one expires, in the middle. */
  function grantFreeBets({ playerId, game }: SessionDocument): void {
    const stake = String(parseAmount(freeBetStake, 'USD'))
    for (const count of [1, 2, 3]) {
      const untilMs = count === 2 ? random.fork(`grants/${playerId}`).between(1, stormMs) : healWithinMs
      const endsAt = new Date(timeline.nowMs() + untilMs)
      world.grants.give({ _id: world.newId('frb'), playerId, game, stake, count, endsAt })
    }
  }

  function sit(playerId: string, game: string): SessionDocument {
    const now = timeline.now()
    const session: SessionDocument = {
      _id: world.newId('ses'),
      version: 1,
      scope: scopeKey(scope),
      ...scope,
      playerId,
      game,
      currency: 'USD',
      brandId: null,
      language: null,
      country: null,
      returnUrl: null,
      metadata: [],
      limits: null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + healWithinMs),
      closedAt: null,
      outbox: [],
      outboxAt: null,
    }
    sessions.set(session._id, session)
    return session
  }

  /** The operator's server ends the rounds that it left open, again and again until none is left. */
  function endWhatIsOpen(): void {
    ending = true
    endOpenRounds(clientDeps('ending')).then(() => timeline.after(1000, () => void (ending = false)), broken)
  }
}
