import type { Bug } from '@pitboss/bugs/bugs'
import { createAccepted } from './accepted.ts'
import { createAnswers } from '@pitboss/chaos/answers'
import { createRandom } from '@pitboss/chaos/random'
import { startBridge } from './bridge-process.ts'
import { BrokenInvariant, createStepChecks } from './check-steps.ts'
import { askAsStranger } from './clients/stranger.ts'
import { countEntries } from './count-entries.ts'
import { createModelReports } from './model-reports.ts'
import { createReportChecks } from './check-reports.ts'
import { checkIds } from './check-ids.ts'
import { createJournalChecks } from './check-journal.ts'
import { createRoundsJournalChecks } from './check-rounds-journal.ts'
import { createBrandChecks } from './check-brands.ts'
import { createProtectionChecks } from './check-protection.ts'
import { createLimitChecks } from './check-limits.ts'
import { compareSources } from './compare-sources.ts'
import { createMachine } from './machine.ts'
import { createHabits } from './habits.ts'
import { limitedPlayer } from './limited-player.ts'
import { createModelBus } from './model-bus.ts'
import { createModelGrants } from './model-grants.ts'
import { createModelLimits } from './model-limits.ts'
import { createModelMovements } from './model-movements.ts'
import { createModelProtection } from './model-protection.ts'
import { createModelRounds } from './model-rounds.ts'
import { createModelSessions } from './model-sessions.ts'
import { createModelStream } from './model-stream.ts'
import { createModelWallet } from './model-wallet.ts'
import { protectedPlayer } from './protected-player.ts'
import { checkMovementsRestored } from './check-movements-restored.ts'
import { createDisturbance } from './disturb-fleet.ts'
import { createFleet } from './fleet.ts'
import { checkRestored, healRounds } from './restore-rounds.ts'
import { createOperations, restoredByMs, restoreTable } from './restore-table.ts'
import { createClients } from './start-clients.ts'
import { startRounds } from './rounds-process.ts'
import { serveEventLog } from './serve-event-log.ts'
import { createTimeline } from './timeline.ts'
import { pickStart } from './calendar.ts'
import { createFaults } from './faults.ts'
import { listUnfinished } from './list-unfinished.ts'
import type { Mistake, World } from './world.ts'

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
const healWithinMs = 2 * 3_600_000
/** Longer than the network of the model holds a call back. */
const lateMs = 45_000
/** After the faults, for movements that a restore has set back: beyond a stake's envelope many times. */
const recoveryMs = 120_000
/** Some runs go on later on the same day: no refusal is a day old. */
const laterChance = 0.4
const laterMs = { least: 3 * 3_600_000, most: 23.9 * 3_600_000 }
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
  const { startMs, turnsAtMs } = pickStart(random.fork('calendar'), stormMs)
  const timeline = createTimeline(startMs)
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

  const fleet = createFleet()
  const checks = createStepChecks(() => world, asked)
  const journaled = createJournalChecks(() => world)
  const roundsJournaled = createRoundsJournalChecks(() => world)
  const branded = createBrandChecks(() => world)
  const reported = createReportChecks(() => world, timeline.nowMs)
  const accepted = createAccepted(() => timeline.nowMs())
  const bug = mistake.bug ?? null
  const has = (name: Bug) => bug === name
  const newId = (prefix: string) => `${prefix}_${number().padStart(26, '0')}`
  const movements = createModelMovements({
    ...{ timeline, random: random.fork('movements'), faults, newId },
    mistake: mistake.journal ?? null,
    ...(mistake.journal === 'replicas share a slot' ? { slotOf: () => 'all' } : {}),
    onWrite: (before, after) => {
      note(`${after.type} ${after.transactionId}: ${before?.status ?? 'new'} → ${after.status}`)
      watched(checks.movementWritten, undefined)(before, after)
      watched(branded.movementWritten, undefined)(after)
    },
    onEntry: watched(journaled.entryLanded, undefined),
    onGone: watched(journaled.movementGone, undefined),
    onListed: watched(journaled.movementListed, undefined),
    onProgress: watched(journaled.progressRaised, undefined),
  })
  const rounds = createModelRounds({
    ...{ timeline, random: random.fork('rounds'), faults, newId, trace: note },
    mistake: mistake.journal ?? null,
    ...(mistake.journal === 'replicas share a slot' ? { slotOf: () => 'all' } : {}),
    onWrite: (before, after) => {
      note(`round ${after.id}: ${after.history.at(-1)?.what ?? ''} (${after.status})`)
      accepted.roundWritten(before, after)
      if (before === null && protection !== null) watched(protection.roundOpened, undefined)(after)
      if (before === null) watched(roundsJournaled.roundOpened, undefined)(after.id)
      watched(checks.roundWritten, undefined)(before, after)
      watched(branded.roundWritten, undefined)(after)
      within?.roundWritten(after)
      watched(reported.roundWritten, undefined)(before, after)
    },
    onListed: watched(roundsJournaled.roundListed, undefined),
    onProgress: watched(roundsJournaled.progressRaised, undefined),
  })
  const stream = createModelStream((entry) => {
    note(`event ${entry.subject} ${entry.id}`)
    watched(checks.eventRecorded, undefined)(entry)
    disturbance.hint(entry.body)
  })
  const wallet = createModelWallet({
    timeline,
    random: random.fork('wallet'),
    faults,
    trace: note,
    startingBalance: habits.startingBalance,
    onEntry(entry) {
      watched(checks.walletMoved, undefined)(entry)
      if (within !== null) watched(within.walletMoved, undefined)()
    },
    onCall: (roundId, machine) => watched(checks.callSent, () => undefined)(roundId, () => machine.isAlive()),
  })
  const world: World = {
    timeline,
    random,
    faults,
    movements,
    rounds,
    grants: createModelGrants({ now: () => timeline.now() }),
    limits: createModelLimits({
      onKept: (playerId, book) => within?.bookKept(playerId, book),
      onRestored: (playerId, backedUpAtMs) => within?.bookRestored(playerId, backedUpAtMs),
    }),
    sessions: createModelSessions(),
    protection: createModelProtection({
      onSettled(stop) {
        note(`stop ${stop._id}: the rounds of ${stop.playerId} have ended`)
        if (protection !== null) watched(protection.stopSettled, undefined)(stop)
      },
      // One database: whoever writes to a collection has found the primary.
      wrote: ({ name }) => rounds.reads.wrote(name),
    }),
    reports: createModelReports({ instances: rounds.instances, has }),
    stream,
    wallet,
    bus: createModelBus({ timeline, random: random.fork('bus'), faults }),
    bridges: {
      tell(from, note) {
        for (const [name, bridge] of fleet.bridges) if (name !== from.name) bridge.hear(note)
      },
      pick: () => [...fleet.bridges].find(([name]) => fleet.machines.get(name)?.isAlive() === true)?.[1],
    },
    checks: {
      movementAnswered: watched(journaled.movementAnswered, undefined),
      backlogPulled: watched(journaled.backlogPulled, undefined),
      roundAnswered: watched(roundsJournaled.roundAnswered, undefined),
      roundKept: watched(checks.roundKept, undefined),
    },
    mistake,
    scaleMs: (ms) => ms / timeScale,
    has,
    newId,
    newUuid: () => `00000000-0000-4000-8000-${number().padStart(12, '0')}`,
    trace: note,
    onError: broken,
  }

  // What a restore takes back of rounds still counts at the wallet.
  const limited =
    faults.restore === null || faults.restore === 'limits'
      ? limitedPlayer(random.fork('limited'), startMs, { stormMs, turns: turnsAtMs !== null })
      : null
  const within = limited === null ? null : createLimitChecks(() => world, limited, timeline.nowMs)
  if (limited !== null) world.limits.give(limited.playerId, limited.limits)
  const guarded =
    faults.restore === null ? protectedPlayer(random.fork('guarded'), timeline.nowMs(), stormMs) : null
  const protection = guarded === null ? null : createProtectionChecks(() => world, guarded)
  const draws = random.fork('faults')
  const disturbance = createDisturbance(fleet, world, draws)
  for (const name of ['rounds-1', 'rounds-2', 'bridge-1', 'bridge-2']) start(name)
  serveEventLog(createOperations(world, 'webhooks'), world)
  disturbance.start()

  const endsAtMs = timeline.nowMs() + stormMs + (faults.restore === null ? 0 : restoredByMs(faults.restore))
  if (faults.restore !== null) restoreTable(faults.restore, { fleet, world, random: draws, start })
  const clients = createClients({
    ...{ world, habits, answers, asked, limited, guarded, endsAtMs, stormMs, sessionMs: healWithinMs },
    turnsAtMs,
  })
  const working = clients.start()
  let clientsLeft = working.length
  for (const client of working) client.then(() => clientsLeft--, broken)

  let steps = 0
  await runUntil(() => timeline.nowMs() >= endsAtMs)
  faults.clear()
  movements.reads.clear()
  rounds.reads.clear()
  note('the faults are over')
  const healedByMs = timeline.nowMs() + healWithinMs
  if (faults.restore === 'movements' || faults.restore === 'both') await judgeLostMovements()
  else await judgeTheEnd()
  return {
    seed,
    steps,
    rounds: rounds.table.size,
    movements: movements.table.size,
    violation,
    promise,
    trace,
  }

  async function judgeTheEnd(): Promise<void> {
    await runUntilRest()
    const lateUntilMs = timeline.nowMs() + lateMs
    await runUntil(() => timeline.nowMs() >= lateUntilMs)
    // A request that its client had given up may have begun something as late as this.
    await runUntilRest()
    await runThrough(() => askAsStranger(world))
    if (faults.restore === null && draws.fork('later').chance(laterChance)) {
      timeline.skip(startMs + random.fork('later').between(laterMs.least, laterMs.most) - timeline.nowMs())
      await runThrough(clients.askLater)
      await runUntilRest()
    }
    if (faults.restore === 'rounds') {
      // What was on its way during the first time may have come since.
      await runThrough(() => healRounds(createOperations(world), world))
      await runUntilRest()
      if (violation === null) watched(checkRestored, undefined)(world)
    } else if (violation === null) {
      const { startingBalance } = habits
      watched(compareSources, undefined)(world, {
        ...{ answers, accepted: accepted.all(), startingBalance },
        clockSlackMs: 2 * faults.clockOffMs,
      })
      watched(checkIds, undefined)(answers)
      watched(branded.atEnd, undefined)(answers)
      await runThrough(() => countEntries(createOperations(world, 'reader'), world))
      watched(reported.atEnd, undefined)(world.reports.rows())
      if (within !== null) watched(within.atEnd, undefined)(answers)
      if (protection !== null) watched(protection.atEnd, undefined)(answers)
    }
  }

  /** A round whose movement is lost may wait for it for ever, so the run ends at a time. */
  async function judgeLostMovements(): Promise<void> {
    const untilMs = timeline.nowMs() + recoveryMs
    await runUntil(() => timeline.nowMs() >= untilMs)
    if (violation === null) watched(checkMovementsRestored, undefined)(world)
  }

  async function runThrough(work: () => Promise<unknown>): Promise<void> {
    if (violation !== null) return
    let working = true
    work()
      .catch(broken)
      .finally(() => (working = false))
    await runUntil(() => !working)
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
    if (violation === null) watched(journaled.allListed, undefined)()
    if (violation === null) watched(roundsJournaled.allListed, undefined)()
  }

  async function runUntil(isReached: () => boolean): Promise<void> {
    while (violation === null && !isReached()) {
      steps += 1
      if (steps > stepsMax)
        return broken(
          new BrokenInvariant('everything ends', `not in ${stepsMax} steps; ${listUnfinished(world)}`),
        )
      if (!(await timeline.step())) return
      if (faults.fair() && clientsLeft === 0) clients.endWhatIsOpen()
    }
  }

  function start(name: string): void {
    const machine = createMachine(name, {
      timeline,
      random: random.fork(`${name}/${timeline.nowMs()}`),
      faults,
      trace: note,
      clockAheadMs: () => (faults.fair() ? 0 : (fleet.clocks.get(name) ?? 0)),
      onDeath: () => {
        const outMs = name.startsWith('bridge') ? fleet.bridgesBackAtMs - timeline.nowMs() : 0
        timeline.after(Math.max(outMs, draws.between(100, 3000)), () => {
          if (!fleet.away.has(name)) start(name)
        })
      },
    })
    fleet.machines.set(name, machine)
    if (name.startsWith('bridge')) fleet.bridges.set(name, startBridge(machine, world))
    else fleet.hints.set(name, startRounds(machine, world).hint)
  }
}
