import { z } from 'zod'
import { acknowledgedChangeMs, defineCall } from '../call.ts'
import { scopeSchema } from '../caller.ts'
import { gameSchema, gameStatus } from '../objects/game.ts'
import { opsReturnStreamSchema, returnAlarmSchema } from '../objects/returns.ts'
import { roundSchema } from '../objects/round.ts'
import { amount, currency, eventEnvironment, playerId, roundId, transactionId, uuid } from '../primitives.ts'
import { opsOrder } from './auth-ops.ts'
import { defineRewindCalls } from './rewind.ts'
import { certainMovement } from './wallet-ops.ts'

/** Calls that auth, wallet-bridge and operations make to rounds. */

/** Currencies of the account's active sessions in both environments. auth asks before it drops one. */
export const currenciesInUse = defineCall('rounds.v1.session.currencies-in-use', {
  callers: ['auth'],
  request: z.strictObject({ operatorId: uuid }),
  reply: z.strictObject({ currencies: z.array(z.string()) }),
  budgetMs: 3000,
})
/** Number of rounds of an environment that have not ended. wallet-bridge asks before its wallet moves. */
export const countUnfinishedRounds = defineCall('rounds.v1.round.count-unfinished', {
  callers: ['wallet-bridge'],
  request: z.strictObject({ scope: scopeSchema }),
  reply: z.strictObject({ count: z.int() }),
  budgetMs: 3000,
})
/**
 * `taken`: rounds was told that the wallet took the stake, which was not rolled back since. `unknown`: no
 * round has it, so a database was restored.
 */
export const stakeStanding = z.enum(['taken', 'not-taken', 'unknown'])
export type StakeStanding = z.infer<typeof stakeStanding>
/** What rounds knows of a stake. wallet-bridge asks before it takes back an old one by itself. */
export const showStakeStanding = defineCall('rounds.v1.round.stake-standing', {
  callers: ['wallet-bridge'],
  request: z.strictObject({ scope: scopeSchema, roundId, transactionId }),
  reply: z.strictObject({ standing: stakeStanding }),
  budgetMs: 2000,
  neverShed: true,
})
export const opsSetGame = defineCall('rounds.v1.ops.game-set', {
  request: z.strictObject({ order: opsOrder, slug: z.string().max(64), status: gameStatus }),
  reply: z.strictObject({ slug: z.string(), status: gameStatus }),
  budgetMs: acknowledgedChangeMs,
})
/** What an account may use in a currency of a game; `limits` null goes back to the platform's. */
export const opsSetGameLimits = defineCall('rounds.v1.ops.game-limits', {
  request: z.strictObject({
    order: opsOrder,
    operatorId: uuid,
    slug: z.string().max(64),
    currency,
    limits: z
      .strictObject({
        min_stake: amount.optional(),
        max_stake: amount.optional(),
        max_payout: amount.optional(),
      })
      .nullable(),
  }),
  reply: z.strictObject({ slug: z.string(), limits: gameSchema.shape.limits }),
  budgetMs: acknowledgedChangeMs,
})
/** Of one account, or without `operatorId` of the installation. `after` is the `next` of the page before. */
export const opsListReturns = defineCall('rounds.v1.ops.returns-list', {
  request: z.strictObject({
    operatorId: uuid.optional(),
    environment: eventEnvironment,
    game: z.string().max(64).optional(),
    after: z.string().max(400).nullable(),
    limit: z.int().min(1).max(50),
  }),
  reply: z.strictObject({ data: z.array(opsReturnStreamSchema), next: z.string().nullable() }),
  budgetMs: 10_000,
})
/** Alarms of the watch of returns, lifted ones too. */
export const opsListReturnAlarms = defineCall('rounds.v1.ops.return-alarms-list', {
  request: z.strictObject({ after: z.string().max(64).nullable(), limit: z.int().min(1).max(50) }),
  reply: z.strictObject({ data: z.array(returnAlarmSchema), next: z.string().nullable() }),
  budgetMs: 10_000,
})
/** Lifts an alarm; its stream begins anew, and the game comes back that the watch had taken down. */
export const opsLiftReturnAlarm = defineCall('rounds.v1.ops.return-alarm-lift', {
  request: z.strictObject({ order: opsOrder, alarmId: z.string().max(64), keepDown: z.boolean() }),
  reply: z.strictObject({ alarm: returnAlarmSchema, brought_back: z.boolean() }),
  budgetMs: acknowledgedChangeMs,
})
/** A round of any operator, with its internal state in words. */
export const opsShowRound = defineCall('rounds.v1.ops.round-show', {
  request: z.strictObject({ roundId: z.string().max(64) }),
  reply: z.strictObject({
    operator_id: z.string(),
    round: roundSchema,
    history: z.array(z.strictObject({ at: z.string(), what: z.string() })),
  }),
})
/**
 * Rounds of every operator that were created in a window, oldest first, for the audit of events. `event_id`
 * is that of `round.completed`; null for a round that has not ended, or that never started.
 */
export const opsRoundsBetween = defineCall('rounds.v1.ops.rounds-between', {
  request: z.strictObject({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    /** The last round of the page before. */
    after: z.string().max(64).nullable(),
    limit: z.int().min(1).max(1000),
  }),
  reply: z.strictObject({
    data: z.array(
      z.strictObject({ round_id: z.string(), operator_id: z.string(), event_id: z.string().nullable() }),
    ),
  }),
  budgetMs: 10_000,
})
/** Tells the end of a round once more, under the id that its event has by its fact. */
export const opsRepublishRound = defineCall('rounds.v1.ops.event-republish', {
  callers: ['ops'],
  request: z.strictObject({ order: opsOrder, roundId: z.string().max(64) }),
  reply: z.strictObject({ event_id: z.string().nullable() }),
})
export const opsRoundsStatus = defineCall('rounds.v1.ops.status', {
  request: z.strictObject({}),
  reply: z.strictObject({ unfinished: z.int(), oldest_unfinished_at: z.string().nullable() }),
})
const orphan = z.strictObject({
  transaction_id: z.string(),
  round_id: z.string(),
  player_id: z.string(),
  game: z.string(),
  amount: z.string(),
  currency: z.string(),
  created_at: z.string(),
  /** Whether the stake stands at wallet-bridge. Of the others only the nonce of the lost round matters. */
  stands: z.boolean(),
})
/**
 * Of these stakes, those whose round is lost with a database that was restored: all that stand, and the
 * others until a nonce is held for their round.
 */
export const opsOrphanedStakes = defineCall('rounds.v1.ops.orphans', {
  callers: ['ops'],
  request: z.strictObject({ scope: scopeSchema, transactionIds: z.array(transactionId).max(100) }),
  reply: z.strictObject({ data: z.array(orphan) }),
  budgetMs: 15_000,
})
/**
 * Heals after a lost round: moves the player's nonce sequence beyond `nonce`, or beyond one more where no
 * event tells the nonce, and gives the stake back when `refund` says so. CONFLICT for a stake that has its
 * round, that does not stand, or whose win was paid.
 */
export const opsHealOrphan = defineCall('rounds.v1.ops.orphan-heal', {
  callers: ['ops'],
  request: z.strictObject({
    order: opsOrder,
    scope: scopeSchema,
    transactionId,
    nonce: z.int().min(1).nullable(),
    refund: z.boolean(),
  }),
  reply: z.strictObject({ transaction_id: z.string(), refund: z.string().nullable() }),
  budgetMs: 20_000,
})
/** A round that began, as its `round.started` tells it. */
export const startedRound = z.strictObject({
  round_id: z.string().max(64),
  player_id: z.string().max(256),
  game: z.string().max(64),
  currency: z.string().max(16),
  nonce: z.int().min(1),
})
/**
 * Moves nonce sequences beyond the nonces of rounds that events know and the database lacks. The reply has
 * those rounds; a dry run only lists them.
 */
export const opsSkipNonces = defineCall('rounds.v1.ops.nonces-skip', {
  callers: ['ops'],
  request: z.strictObject({ order: opsOrder, scope: scopeSchema, rounds: z.array(startedRound).max(500) }),
  reply: z.strictObject({ data: z.array(startedRound) }),
  budgetMs: 20_000,
})
/** Newest first. `next` is the `after` of the following page; null after the last one. */
export const opsUnendedRounds = defineCall('rounds.v1.ops.rounds-unended', {
  callers: ['ops'],
  request: z.strictObject({
    scope: scopeSchema,
    status: z.enum(['PENDING', 'OPEN']),
    after: z.string().max(64).nullable(),
  }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ round_id: z.string(), player_id: z.string(), game: z.string() })),
    next: z.string().nullable(),
  }),
  budgetMs: 10_000,
})
/** The part of `round.completed` that says how a round has ended. */
export const toldEnd = z.object({
  status: z.enum(['SETTLED', 'VOIDED']),
  payout: z.string(),
  outcome: z.record(z.string(), z.unknown()).nullable(),
  end_reason: z.string().nullable(),
})
/**
 * Ends a round as its `round.completed` has told it, after the database of rounds was set back. Repeating it
 * changes nothing. The reply has the status from then on: PENDING for a round whose stake is still settled.
 * ROUND_NOT_FOUND; CONFLICT when the operator drives the round, or its seed and bet give another end.
 */
export const opsEndRoundAsTold = defineCall('rounds.v1.ops.round-end-as-told', {
  callers: ['ops'],
  request: z.strictObject({
    order: opsOrder,
    roundId: z.string().max(64),
    end: toldEnd,
  }),
  reply: z.strictObject({ round_id: z.string(), status: z.string() }),
  budgetMs: 20_000,
})
/**
 * Ends a movement that a round owes and that wallet-bridge refuses for good, as a person says it stands at
 * the wallet. The reply has the round's status from then on. ROUND_NOT_FOUND; CONFLICT when the round does
 * not owe it, or wallet-bridge has it.
 */
export const opsResolveOwed = defineCall('rounds.v1.ops.owed-resolve', {
  callers: ['ops'],
  request: z.strictObject({
    order: opsOrder,
    roundId: z.string().max(64),
    transactionId,
    as: z.enum(['success', 'failed']),
  }),
  reply: z.strictObject({ round_id: z.string(), status: z.string() }),
  budgetMs: 20_000,
})
/**
 * What rounds that are open, or have ended since `from`, know for certain of their movements. `next` is the
 * `after` of the following page; null after the last one.
 */
export const opsCertainMovements = defineCall('rounds.v1.ops.certain-movements', {
  callers: ['ops'],
  request: z.strictObject({
    scope: scopeSchema,
    from: z.iso.datetime(),
    after: z.string().max(128).nullable(),
  }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ round_id: z.string(), movements: z.array(certainMovement) })),
    next: z.string().nullable(),
  }),
  budgetMs: 15_000,
})
export const playerDataKind = z.enum(['session', 'round', 'free_bet', 'stop', 'limits'])
/**
 * Records of one player, of one kind, newest first, as the API shows them. `next` is the `before` of the
 * following page; null after the last one.
 */
export const opsPlayerData = defineCall('rounds.v1.ops.player-data', {
  callers: ['ops'],
  request: z.strictObject({
    scope: scopeSchema,
    playerId,
    kind: playerDataKind,
    before: z.string().max(64).nullable(),
  }),
  reply: z.strictObject({ data: z.array(z.record(z.string(), z.unknown())), next: z.string().nullable() }),
  budgetMs: 10_000,
})
/**
 * Erases what is in no money record and no proof from sessions of a player that ended a day ago or earlier:
 * country, language, return url, metadata. `kept` counts the sessions that ended later, or have not ended.
 * Repeating it changes nothing more.
 */
export const opsErasePlayer = defineCall('rounds.v1.ops.player-erase', {
  callers: ['ops'],
  request: z.strictObject({ order: opsOrder, scope: scopeSchema, playerId }),
  reply: z.strictObject({ erased: z.int(), kept: z.int() }),
  budgetMs: 20_000,
})
/** Rewinds of the consumer of movements' late results. */
export const movementsRewind = defineRewindCalls('rounds')
