import { handler } from '@pitboss/bus/serve-calls'
import { cashOut, playRound as playEndpoint, revealTile } from '@pitboss/contracts/endpoints/play'
import type { Caller } from '@pitboss/contracts/caller'
import type { CallContext } from '@pitboss/contracts/call'
import { ServiceError } from '@pitboss/errors/service-error'
import { createPlaceTransaction } from '@pitboss/rounds/actions/place-transaction'
import { createPlay } from '@pitboss/rounds/actions/create-play'
import { createPlayRound } from '@pitboss/rounds/actions/play-round'
import { createReadRounds } from '@pitboss/rounds/actions/read-rounds'
import {
  createLateMovementHandler,
  createRecoverRound,
  createSweepRounds,
} from '@pitboss/rounds/actions/recover-round'
import { createVoidRound } from '@pitboss/rounds/actions/void-round'
import { createRoundHandlers, createTransactionHandlers } from '@pitboss/rounds/calls/rounds'
import { sessionCalls } from '@pitboss/rounds/calls/sessions'
import { createWalletClient } from '@pitboss/rounds/clients/wallet'
import type { RoundsContext } from '@pitboss/rounds/context'
import { noHooks } from '@pitboss/rounds/mount-wings'
import { presentRound } from '@pitboss/rounds/records/present-round'
import { createCatalogue } from '@pitboss/rounds/rules/catalogue'
import type { RoundMessage } from '@pitboss/rounds/rules/round-message'
import type { OwnLimits } from '@pitboss/rounds/rules/limits'
import { rememberLast } from '@pitboss/rounds/storage/remember-last'
import { holdLimits } from '@pitboss/rounds/wings/protection/actions/hold-limits'
import { settleStops } from '@pitboss/rounds/wings/protection/actions/settle-stops'
import { realityCheckCalls } from '@pitboss/rounds/wings/protection/calls/reality-checks'
import { stopCalls } from '@pitboss/rounds/wings/protection/calls/stops'
import type { ProtectionContext } from '@pitboss/rounds/wings/protection/context'
import { protectionHooks } from '@pitboss/rounds/wings/protection/wing'
import { catalogueWith } from '@pitboss/bugs/draw-bugs'
import { playRoundWith, rulesWith, walletWith } from '@pitboss/bugs/rounds-bugs'
import {
  clockOffsetWith,
  commitmentsWith,
  deadIdsWith,
  grantsWith,
  limitsWith,
  operatorLimitsWith,
  pacesWith,
  refusalsWith,
  roundsStoreWith,
  sessionsWith,
} from '@pitboss/bugs/rounds-store-bugs'
import { inCurrency } from '@pitboss/chaos/in-currency'
import { parseAmount } from '@pitboss/money/amount'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { currencies } from './clients/client.ts'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { createRelay } from './model-stream.ts'
import { notSimulated } from './not-simulated.ts'
import { poll } from './poll.ts'
import { silent, type World } from './world.ts'

/**
 * A rounds service: the real handlers, actor and sweep on the model's tables, bus and time.
 * @returns what the consumer of movement events does with a hint.
 */
export function startRounds(machine: Machine, world: World): { hint(roundId: string): void } {
  const { timeline, rounds: model, bus, has, onError } = world
  const context = protectionOf(machine, world)
  const { rounds, clock, roundOutbox: outbox } = context
  const wait = (ms: number) => machine.wait(ms)
  const parts = createPlay({ ...context, admitPlay: () => undefined, wait })
  const { actor, settleRound, players } = parts
  const play = playRoundWith(createPlayRound(parts), { rounds, players }, has)
  const placeTransaction = createPlaceTransaction({
    ...{ ...parts, wait },
    holdLimits: operatorLimitsWith(parts.holdLimits, has),
  })
  const reads = createReadRounds(context)
  const voidRound = createVoidRound({ ...parts, reads })

  bus.serve(machine, [
    ...createRoundHandlers({ rounds: reads, voidRound }),
    ...createTransactionHandlers({ placeTransaction }),
    ...stopCalls(context),
    ...sessionCalls(context),
    ...realityCheckCalls(context),
    handler(playEndpoint.call, async ({ caller, body }, call) => ({
      status: 201,
      body: presentRound(await play(caller, body, call)),
    })),
    handler(revealTile.call, ({ caller, params, body }, call) =>
      act(caller, params.round_id, { type: 'reveal', tile: body.tile }, call),
    ),
    handler(cashOut.call, ({ caller, params }, call) =>
      act(caller, params.round_id, { type: 'cash-out' }, call),
    ),
  ])
  const recover = createRecoverRound({ ...parts, settle: settleRound })
  const handleLateMovement = createLateMovementHandler({ rounds, actor, recover, clock })
  const sweep = createSweepRounds({ rounds, recover, clock, random: inOrder })
  const never = new AbortController().signal
  poll({
    machine,
    timeline,
    everyMs: 500,
    nextMs: model.nextDueMs,
    work: async () => void (await sweep(never)),
  })
  poll({
    ...{ machine, timeline, everyMs: 500, nextMs: world.protection.nextDueMs },
    work: async () => void (await settleStops(context, never)),
  })
  poll({ machine, timeline, everyMs: 1000, nextMs: oldestEventMs, work: relayAll })

  return {
    hint(roundId) {
      machine.after(1, () => {
        handleLateMovement(roundId).catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
      })
    },
  }

  /** As `actOnRound` of rounds, for any session. */
  async function act(caller: Caller, roundId: string, message: RoundMessage, context: CallContext) {
    const stored = await rounds.find(caller.scope, roundId)
    if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
    const acted = await actor.send(stored, message)
    return { status: 200, body: presentRound((await settleRound(acted, { recover: false, context })).round) }
  }

  async function relayAll(): Promise<void> {
    for (const { round, outbox: waiting } of model.table.values()) {
      if (waiting.length > 0) void outbox.relay({ _id: round.id })
    }
  }

  function oldestEventMs(): number {
    const waits = [...model.table.values()].some(({ outbox: waiting }) => waiting.length > 0)
    return waits ? 0 : Number.POSITIVE_INFINITY
  }
}

/** The context of the service and of its protection, on the model's tables. */
function protectionOf(machine: Machine, world: World): ProtectionContext {
  const { timeline, limits, protection, has } = world
  const core = coreOf(machine, world)
  const { spends, playerLimits } = limits.storesOf(machine)
  const context: ProtectionContext = {
    ...core,
    stops: protection.stopsOf(machine),
    paces: pacesWith(protection.pacesOf(machine), has),
    playerLimits: {
      ...limitsWith(playerLimits, has),
      exists: async (_scope, playerId) => limits.table.has(playerId),
      ...{ begin: notSimulated, set: notSimulated },
    },
    spends: { ...spends, of: notSimulated },
  }
  // The service measures how far its clock is ahead of the database's.
  const clockOffsetMs = clockOffsetWith(() => machine.now().getTime() - timeline.nowMs(), has)
  const limited = { ...context, clockOffsetMs }
  Object.assign(core.hooks, {
    ...protectionHooks(context),
    holdLimits: (...[scope, session]: HoldGiven) => holdLimits(limited, scope, session),
  })
  return context
}

type HoldGiven = Parameters<RoundsContext['hooks']['holdLimits']>

function coreOf(machine: Machine, world: World): RoundsContext {
  const { timeline, rounds: model, mistake, has, newId, newUuid, scaleMs } = world
  const clock = { now: machine.now }
  const { rounds = same, grants = same } = mistake
  const sessions = sessionsWith(world.sessions.storeOf(machine), has)
  const wallet = {
    ...createWalletClient({ bus: world.bus.busOf(machine) }),
    assertConfigured: () =>
      machine.io('wallet status', () => ({ configured: true, settleLosses: 'none' as const })),
  }
  const relay = createRelay({
    ...{ machine, stream: world.stream, takeOut: model.takeOut },
    pendingOf: (id) => model.table.get(id)?.outbox ?? [],
  })
  return {
    rounds: rememberLast(rounds(roundsStoreWith(model.storeOf(machine), has)), clock),
    refusals: refusalsWith(model.refusalsOf(machine), has),
    commitments: commitmentsWith(model.commitmentsOf(machine), has),
    deadIdsStore: deadIdsWith(model.deadIdsOf(machine), has),
    sessions,
    grants: {
      ...grants(grantsWith(world.grants.storeOf(machine), has)),
      ...{ insert: notSimulated, find: notSimulated, findReferenced: notSimulated },
      ...{ cancel: notSimulated, list: notSimulated },
    },
    games: {
      settings: async (_operatorId, slug) => ({ ...settings, limits: slug === 'mines' ? minesLimits : none }),
      status: async () => 'AVAILABLE',
      ...{ change: notSimulated, changeSeen: notSimulated, takeDown: notSimulated },
      ...{ bringBack: notSimulated, setStatus: notSimulated },
    },
    keys: { find: async () => null, claim: async (_caller, _creation, newKey) => newKey() },
    facts: { read: notSimulated, waiting: notSimulated, remove: notSimulated },
    bus: world.bus.busOf(machine),
    wallet: walletWith(wallet, has),
    catalogue: catalogueWith(createCatalogue(), has),
    rules: mistake.roundRules ?? rulesWith(has),
    hooks: { ...noHooks, folds: [] },
    cursors: { encode: () => '', decode: () => null },
    audit: { entry: () => sampleAuditEntry(), store: async () => undefined },
    roundOutbox: { ...relay, again: notSimulated },
    sessionOutbox: { relay: async () => undefined },
    noteConflict: () => undefined,
    noteRefusedSettlement: () => undefined,
    clockOffsetMs: () => machine.now().getTime() - timeline.nowMs(),
    ...{ clock, newId, newUuid, scaleMs, logger: silent },
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
