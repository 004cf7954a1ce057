import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { cashOut, playRound as playEndpoint, revealTile } from '@pitboss/contracts/endpoints/play'
import type { Caller } from '@pitboss/contracts/caller'
import type { CallContext } from '@pitboss/contracts/call'
import { ServiceError } from '@pitboss/errors/service-error'
import { applyMessage } from '@pitboss/rounds/actions/change-round'
import { createSweepRounds, handleLateMovement, recoverRound } from '@pitboss/rounds/actions/recover-round'
import { settleRound } from '@pitboss/rounds/actions/settle-round'
import { showFirst } from '@pitboss/rounds/actions/read-rounds'
import { roundCalls, transactionCalls } from '@pitboss/rounds/calls/rounds'
import { sessionCalls } from '@pitboss/rounds/calls/play'
import { createWalletClient } from '@pitboss/rounds/clients/wallet'
import { PlayMemory, type PlayContext, type RoundsContext } from '@pitboss/rounds/context'
import { noHooks } from '@pitboss/rounds/wing'
import { presentRound } from '@pitboss/rounds/records/present-round'
import { createCatalogue } from '@pitboss/rounds/rules/catalogue'
import type { RoundMessage } from '@pitboss/rounds/rules/round-message'
import type { OwnLimits } from '@pitboss/rounds/rules/limits'
import { sequenceOf, type StoredRound } from '@pitboss/rounds/storage/round-document'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import { settleStops } from '@pitboss/rounds/wings/protection/actions/player-stops'
import { protectionCalls, protectionHooks } from '@pitboss/rounds/wings/protection/wing'
import type { ProtectionContext } from '@pitboss/rounds/wings/protection/actions/player-limits'
import { catalogueWith } from '@pitboss/bugs/draw-bugs'
import { foldWith } from '@pitboss/bugs/rounds-journal-bugs'
import { playRoundWith, rulesWith, walletWith } from '@pitboss/bugs/rounds-bugs'
import {
  clockOffsetWith,
  commitmentsWith,
  grantsWith,
  limitsWith,
  operatorLimitsWith,
  pacesWith,
  roundsStoreWith,
  sessionsWith,
} from '@pitboss/bugs/rounds-store-bugs'
import { inCurrency } from '@pitboss/chaos/in-currency'
import type { Random } from '@pitboss/chaos/random'
import { parseAmount } from '@pitboss/money/amount'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { z } from 'zod'
import { currencies } from './clients/client.ts'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { notSimulated } from './not-simulated.ts'
import { poll } from './poll.ts'
import { type RunRounds, runRounds } from './run-rounds.ts'
import { silent, type World } from './world.ts'

const namesRound = z.object({ body: z.looseObject({ round_id: z.string() }) })

/**
 * A rounds service: the real handlers, actor and sweep on the model's tables, bus and time.
 * @returns what the consumer of movement events does with a hint.
 */
export function startRounds(machine: Machine, world: World): { hint(roundId: string): void } {
  const { timeline, bus, has, onError } = world
  const storage = runRounds(machine, world)
  const context: ProtectionContext & PlayContext = {
    ...protectionOf(machine, world, storage),
    ...{ admitPlay: () => undefined, leftFrom: null, wait: machine.wait, memory: new PlayMemory() },
  }
  const { rounds, hooks } = context
  const play = playRoundWith(has)
  const ofOperator = { ...context, hooks: operatorLimitsWith(hooks, has) }
  const sweep = createSweepRounds(context, (stored) => recoverRound(context, stored), inOrder)
  const never = new AbortController().signal
  const handlers = [
    ...roundCalls(context),
    ...transactionCalls(ofOperator),
    ...protectionCalls(context),
    ...sessionCalls(context),
    handler(playEndpoint.call, ({ caller, body }, call) =>
      showFirst(context, async () => ({
        status: 201,
        body: presentRound(await play(context, caller, body, call)),
      })),
    ),
    handler(revealTile.call, ({ caller, params, body }, call) =>
      act(caller, params.round_id, { type: 'reveal', tile: body.tile }, call),
    ),
    handler(cashOut.call, ({ caller, params }, call) =>
      act(caller, params.round_id, { type: 'cash-out' }, call),
    ),
  ]
  const folds = [foldWith({ fold: world.reports.foldOf(machine) }, has)]
  storage.sums.by(folds)
  storage.running.start().then(() => {
    bus.serve(machine, watchedAnswers(handlers, world))
    poll({
      ...{ machine, timeline, everyMs: 500, idleMsMax: 2000, nextMs: storage.work.nextDueMs },
      work: async () => void (await sweep(never)),
    })
    poll({
      ...{ machine, timeline, everyMs: 500, nextMs: world.protection.nextDueMs },
      work: async () => void (await settleStops(context, never)),
    })
    const random = world.random.fork(`pages/${machine.name}/${timeline.nowMs()}`)
    poll({
      ...{ machine, timeline, everyMs: 1000 },
      nextMs: () => (pending().length > 0 ? timeline.nowMs() : Number.POSITIVE_INFINITY),
      work: () => showNextNonce(random),
    })
  }, onError)

  return {
    hint(roundId) {
      machine.after(1, () => {
        handleLateMovement(context, roundId).catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
      })
    },
  }

  /** A page asks for the commitment after a round that is under way. */
  async function showNextNonce(random: Random): Promise<void> {
    const open = pending()
    if (open.length > 0) await rounds.lastShown(sequenceOf(random.pick(open).round))
  }

  function pending() {
    return [...world.rounds.table.values()].filter(({ round }) => round.status === 'PENDING')
  }

  /** As `actOnRound` of rounds, for any session. */
  async function act(caller: Caller, roundId: string, message: RoundMessage, call: CallContext) {
    return showFirst(context, async () => {
      const stored = await rounds.find(caller.scope, roundId)
      if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
      const acted = await applyMessage(context, stored, message)
      const { round } = await settleRound(context, acted, { recover: false, call })
      return { status: 200, body: presentRound(round) }
    })
  }
}

/** Has the run look at every round that an answer names. */
function watchedAnswers(
  handlers: readonly CallHandler[],
  { checks: { roundAnswered } }: World,
): CallHandler[] {
  return handlers.map((one) => ({
    ...one,
    async run(...args) {
      const answer = await one.run(...args)
      const named = namesRound.safeParse(answer)
      if (named.success) roundAnswered(named.data.body.round_id)
      return answer
    },
  }))
}

/** The context of the service and of its protection, on the model's tables. */
function protectionOf(machine: Machine, world: World, storage: RunRounds): ProtectionContext {
  const { timeline, limits, protection, has } = world
  const core = coreOf(machine, world, storage)
  const playerLimits = limits.storeOf(machine)
  const context: ProtectionContext = {
    ...core,
    stops: protection.stopsOf(machine),
    paces: pacesWith(protection.pacesOf(machine), has),
    playerLimits: {
      ...limitsWith(playerLimits, has),
      exists: async (_scope, playerId) => limits.table.has(playerId),
      ...{ begin: notSimulated, set: notSimulated },
    },
    spends: { of: notSimulated },
  }
  // The service measures how far its clock is ahead of the database's.
  const clockOffsetMs = clockOffsetWith(() => machine.now().getTime() - timeline.nowMs(), has)
  const { assertWithinLimits, chargeStake } = protectionHooks({ ...context, clockOffsetMs })
  Object.assign(core.hooks, { ...protectionHooks(context), assertWithinLimits, chargeStake })
  return context
}

function coreOf(machine: Machine, world: World, storage: RunRounds): RoundsContext {
  const { timeline, mistake, has, newId, newUuid, scaleMs } = world
  const clock = { now: machine.now }
  const { rounds = same, grants = same } = mistake
  const sessions = sessionsWith(storage.sessions, has)
  const wallet = {
    ...createWalletClient({ bus: world.bus.busOf(machine) }),
    assertConfigured: () => machine.io('wallet status', () => undefined),
  }
  return {
    rounds: rounds(roundsStoreWith(watchedDues(storage.rounds, world), has)),
    commitments: commitmentsWith(storage.commitments, has),
    ...{ lost: storage.lost, sums: storage.sums },
    sessions,
    grants: {
      ...grants(grantsWith(world.grants.storeOf(machine), has)),
      ...{ insert: notSimulated, find: notSimulated, findReferenced: notSimulated },
      ...{ cancel: notSimulated, list: notSimulated },
    },
    games: {
      copy: async (_operatorId, slug) => ({
        settings: { ...settings, limits: slug === 'mines' ? minesLimits : none },
        status: 'AVAILABLE',
      }),
      ...{ settings: notSimulated, status: notSimulated },
      ...{ change: notSimulated, changeSeen: notSimulated, takeDown: notSimulated },
      ...{ bringBack: notSimulated, setStatus: notSimulated },
    },
    keys: { find: async () => null, claim: async (_, { newId }) => ({ objectId: newId(), fresh: true }) },
    bus: world.bus.busOf(machine),
    wallet: walletWith(wallet, has),
    catalogue: catalogueWith(createCatalogue(), has),
    rules: mistake.roundRules ?? rulesWith(has),
    hooks: { ...noHooks, folds: [] },
    cursors: { encode: () => '', decode: () => null },
    audit: { entry: () => sampleAuditEntry(), store: async () => undefined },
    noteConflict: () => undefined,
    noteRefusedSettlement: () => undefined,
    clockOffsetMs: () => machine.now().getTime() - timeline.nowMs(),
    ...{ clock, newId, newUuid, scaleMs, logger: silent },
  }
}

/** Has the run look at the time at which each round is looked at that is written. */
function watchedDues(rounds: RoundsStore, { checks: { roundKept } }: World): RoundsStore {
  const seen = (stored: StoredRound | null) => {
    if (stored !== null) roundKept(stored.round, stored.dueAt)
    return stored
  }
  return {
    ...rounds,
    insert: async (...args) => seen(await rounds.insert(...args)),
    update: async (...args) => seen(await rounds.update(...args)),
  }
}

/** Leaves the rounds of a sweep in their order. */
function inOrder(): number {
  return 0
}

function same<Thing>(thing: Thing): Thing {
  return thing
}

const none: ReadonlyMap<string, OwnLimits> = new Map()
const settings = { enabled: true, byOperations: new Map(), version: 0 }
/** Low enough that boards of mines end by themselves. */
const minesPayoutMax = '7.00'
const minesLimits: ReadonlyMap<string, OwnLimits> = new Map(
  currencies.map((currency) => [
    currency,
    {
      minStake: null,
      maxStake: null,
      maxPayout: parseAmount(inCurrency(minesPayoutMax, currency), currency),
    },
  ]),
)
