import { handler } from '@pitboss/bus/serve-calls'
import {
  answerRealityCheck,
  cashOut,
  playRound as playEndpoint,
  revealTile,
} from '@pitboss/contracts/endpoints/play'
import type { Caller } from '@pitboss/contracts/caller'
import type { CallContext } from '@pitboss/contracts/call'
import { ServiceError } from '@pitboss/errors/service-error'
import { createMailbox } from '@pitboss/runtime/mailbox'
import { createAnswerRealityCheck } from '@pitboss/rounds/actions/answer-reality-check'
import { createHoldPace } from '@pitboss/rounds/actions/hold-pace'
import { createPlayerAccess } from '@pitboss/rounds/actions/player'
import { createPlayerStops } from '@pitboss/rounds/actions/player-stops'
import { createSessions } from '@pitboss/rounds/actions/sessions'
import { createSessionHandlers } from '@pitboss/rounds/calls/sessions'
import { createStopHandlers } from '@pitboss/rounds/calls/player-stops'
import { presentSession } from '@pitboss/rounds/records/present-session'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { createRoundActor } from '@pitboss/rounds/actions/round-actor'
import { createCatalogue } from '@pitboss/rounds/rules/catalogue'
import { createWalletClient } from '@pitboss/rounds/clients/wallet'
import { accountLimits, platformLimits } from '@pitboss/rounds/rules/limits'
import type { RoundMessage } from '@pitboss/rounds/rules/round-message'
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
import { createDeadIds } from '@pitboss/rounds/actions/dead-ids'
import { createJoinMovement } from '@pitboss/rounds/actions/join-movement'
import { createHoldLimits, createReadLimits } from '@pitboss/rounds/actions/hold-limits'
import { createOpenIntent } from '@pitboss/rounds/actions/open-intent'
import { createPlaceStake } from '@pitboss/rounds/actions/place-stake'
import { createPlaceTransaction } from '@pitboss/rounds/actions/place-transaction'
import { createPlayRound } from '@pitboss/rounds/actions/play-round'
import { createRoundHandlers, createTransactionHandlers } from '@pitboss/rounds/calls/rounds'
import {
  createLateMovementHandler,
  createRecoverRound,
  createSweepRounds,
} from '@pitboss/rounds/actions/recover-round'
import { presentRound } from '@pitboss/rounds/records/present-round'
import { rememberLast } from '@pitboss/rounds/storage/remember-last'
import { createSettleRound } from '@pitboss/rounds/actions/settle-round'
import { createReadRounds } from '@pitboss/rounds/actions/read-rounds'
import { createVoidRound } from '@pitboss/rounds/actions/void-round'
import { inCurrency } from '@pitboss/chaos/in-currency'
import { parseAmount } from '@pitboss/money/amount'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { createRelay } from './model-stream.ts'
import { poll } from './poll.ts'
import { silent, type World } from './world.ts'

/**
 * A rounds service: the real handlers, actor and sweep on the model's tables, bus and time.
 * @returns what the consumer of movement events does with a hint.
 */
export function startRounds(machine: Machine, world: World): { hint(roundId: string): void } {
  const { timeline, rounds: model, stream, bus, mistake, has, newId, newUuid, scaleMs, onError } = world
  const clock = { now: machine.now }
  const catalogue = catalogueWith(createCatalogue(), has)
  const { rounds: mistakenRounds = same, grants: mistakenGrants = same } = mistake
  const rounds = rememberLast(mistakenRounds(roundsStoreWith(model.storeOf(machine), has)), clock)
  const commitments = commitmentsWith(model.commitmentsOf(machine), has)
  const grants = mistakenGrants(grantsWith(world.grants.storeOf(machine), has))
  const outbox = createRelay({
    machine,
    stream,
    pendingOf: (id) => model.table.get(id)?.outbox ?? [],
    takeOut: model.takeOut,
  })
  const wallet = walletWith(
    {
      ...createWalletClient({ bus: bus.busOf(machine) }),
      assertConfigured: () => machine.io('wallet status', () => ({ configured: true, settleLosses: 'none' })),
    },
    has,
  )
  const actor = createRoundActor({
    rounds,
    commitments,
    wallet,
    outbox,
    catalogue,
    mailbox: createMailbox(),
    clock,
    newId,
    scaleMs,
    logger: silent,
    rules: mistake.roundRules ?? rulesWith(has),
  })
  const deadIds = createDeadIds({
    ...{ rounds, clock, newUuid },
    deadIds: deadIdsWith(model.deadIdsOf(machine), has),
  })
  const { settleRound, voidStake } = createSettleRound({
    ...{ grants, wallet, actor, deadIds, clock, logger: silent },
    noteRefusedSettlement: () => undefined,
  })
  const placeStake = createPlaceStake({ rounds, wallet, actor, logger: silent })
  const joinMovement = createJoinMovement({ wallet, rounds, clock, wait: (ms) => machine.wait(ms) })
  const intents = createOpenIntent({ rounds, actor })
  const { spends, ...kept } = world.limits.storesOf(machine)
  const sessions = sessionsWith(world.sessions.storeOf(machine), has)
  const paces = pacesWith(world.protection.pacesOf(machine), has)
  const playerLimits = limitsWith(kept.playerLimits, has)
  // The service measures how far its clock is ahead of the database's.
  const clockOffsetMs = () => machine.now().getTime() - timeline.nowMs()
  const limitsOffsetMs = clockOffsetWith(clockOffsetMs, has)
  const reading = createReadLimits({ playerLimits, spends, sessions, clock, clockOffsetMs: limitsOffsetMs })
  const holdLimits = createHoldLimits({ reading, playerLimits })
  const ids = { newId, newUuid }
  const findGame = (slug: string) => {
    const entry = catalogue.find(slug)
    if (entry === null) throw new ServiceError('GAME_NOT_FOUND')
    return entry
  }
  const offered = async (_operatorId: string, slug: string) => ({
    entry: findGame(slug),
    limits: (currency: string) => limitsOf(slug, currency),
  })
  const noteConflict = () => undefined
  const access = { find: findGame, offered }
  const players = createPlayerAccess({ sessions, rounds })
  const playRound = createPlayRound({
    ...{ rounds, commitments, grants, wallet, actor, settleRound, access, players },
    refusals: refusalsWith(model.refusalsOf(machine), has),
    ...{ intents, placeStake, joinMovement, noteConflict, clock, ...ids },
    holdPace: createHoldPace({ paces, clock, clockOffsetMs }),
    admitPlay: () => undefined,
    holdLimits,
  })
  const play = playRoundWith(playRound, { rounds, players }, has)
  const placeTransaction = createPlaceTransaction({
    holdLimits: operatorLimitsWith(holdLimits, has),
    admitPlay: () => undefined,
    ...{ rounds, sessions, commitments, wallet, actor, access, deadIds },
    wait: (ms) => machine.wait(ms),
    ...{ intents, placeStake, joinMovement, noteConflict, clock, ...ids },
  })
  const cursors = { encode: () => '', decode: () => null }
  const reads = createReadRounds({ rounds, cursors })
  const voidRound = createVoidRound({ rounds, reads, settleRound, voidStake, clock })
  const stops = createPlayerStops({
    ...{ stops: world.protection.stopsOf(machine), sessions, rounds, catalogue, clock, newId, scaleMs },
    ...{ audit: { entry: () => sampleAuditEntry(), store: async () => undefined }, cursors },
  })
  const sitting = createSessions({
    ...{ sessions, rounds, access, stops, clock, newId, scaleMs, cursors },
    ...{ audit: { entry: () => sampleAuditEntry(), store: async () => undefined } },
    keys: { find: async () => null, claim: async (_caller, _creation, newKey) => newKey() },
    outbox: { relay: async () => undefined },
    playerLimits: { exists: async (_scope, playerId) => world.limits.table.has(playerId) },
  })
  const realityCheck = createAnswerRealityCheck({ sessions, players, close: sitting.close })

  bus.serve(machine, [
    ...createRoundHandlers({ rounds: reads, voidRound }),
    ...createTransactionHandlers({ placeTransaction }),
    ...createStopHandlers({ stops, clock }),
    ...createSessionHandlers({ sessions: sitting, clock }),
    handler(answerRealityCheck.call, async ({ caller, body }) => {
      const now = clock.now()
      return { status: 200, body: presentSession(await realityCheck(caller, body.choice, now), now) }
    }),
    handler(playEndpoint.call, async ({ caller, body }, context) => ({
      status: 201,
      body: presentRound(await play(caller, body, context)),
    })),
    handler(revealTile.call, ({ caller, params, body }, context) =>
      act(caller, params.round_id, { type: 'reveal', tile: body.tile }, context),
    ),
    handler(cashOut.call, ({ caller, params }, context) =>
      act(caller, params.round_id, { type: 'cash-out' }, context),
    ),
  ])
  const recover = createRecoverRound({
    ...{ rounds, actor, settle: settleRound, clock, newId, scaleMs, logger: silent },
  })
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
    work: async () => void (await stops.settle(never)),
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

  /** As `createActOnRound` of rounds, for any session. */
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

/** Leaves the rounds of a sweep in their order. */
function inOrder(): number {
  return 0
}

function same<Thing>(thing: Thing): Thing {
  return thing
}

/** Low enough that boards of mines end by themselves. */
const minesPayoutMax = '7.00'

function limitsOf(slug: string, currency: string) {
  const allowed = platformLimits(currency)
  if (allowed === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
  const maxPayout = slug === 'mines' ? parseAmount(inCurrency(minesPayoutMax, currency), currency) : null
  return accountLimits(allowed, { minStake: null, maxStake: null, maxPayout })
}
