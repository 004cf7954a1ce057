import { z } from 'zod'
import { type Scope, scopeSchema } from '../caller.ts'
import { defineCall } from '../call.ts'
import { tokenOfOperator } from '../call-token.ts'
import { settleLosses } from '../objects/wallet.ts'
import { ledgerRow, operatorsLedgerRow } from '../objects/reconciliation.ts'
import { movementSchema, movementType } from '../objects/movement.ts'
import {
  amount,
  balance,
  brandId,
  currency,
  playerId,
  roundId,
  sessionId,
  transactionId,
  uuid,
} from '../primitives.ts'

/** Calls that rounds and the gateway make to wallet-bridge. Source: docs/contract.md, section 5. */

/** The fields of a movement for its wallet call, chosen by the caller before the first write. */
export const movementSpec = z.strictObject({
  transactionId,
  type: movementType,
  amount,
  currency,
  playerId,
  sessionId,
  roundId,
  walletRoundId: uuid,
  walletGameId: uuid,
  game: z.string(),
  brandId: brandId.nullable(),
  freeBet: z.boolean(),
  /** The round ends with this movement. */
  roundClosed: z.boolean(),
  /** Of a stake that was added to an open round: the service's own rollback of it does not end the round. */
  isAdded: z.literal(true).optional(),
  driver: z.enum(['game', 'operator']),
  referenceTransactionId: transactionId.nullable(),
  /**
   * False for a lost round's "0.00" win while the wallet is not told of losses: recorded as SUCCESS without a
   * call or an event. wallet-bridge decides by `settle_losses` when the amount is zero and this is null.
   */
  callWallet: z.boolean().nullable(),
  /** Hash of the public request that asked for it; a repeat with another hash is TRANSACTION_CONFLICT. */
  requestHash: z.string(),
})
export type MovementSpec = z.infer<typeof movementSpec>

/** The public errors of a wallet's definite refusal. */
export const walletRefusal = z.enum([
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_REJECTED',
])

/**
 * The outcome of a movement for its caller. `done`: SUCCESS, or REFUNDED or ROLLED_BACK for a stake given
 * back meanwhile. `refused`: the wallet refused for certain, `code` is the public error. `pending`: the
 * outcome is unknown or a rollback is owed, `code` is the caller's error.
 */
export const movementOutcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('done') }),
  z.strictObject({
    kind: z.literal('refused'),
    code: walletRefusal,
  }),
  z.strictObject({
    kind: z.literal('pending'),
    code: z.enum(['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE']),
    rollbackOwed: z.boolean(),
  }),
])
export type MovementOutcome = z.infer<typeof movementOutcome>

const standing = {
  outcome: movementOutcome,
  /** Of a game's stake: how its round is settled when it loses, as set when it was placed. Default `none`. */
  settleLosses: settleLosses.optional(),
}
const placed = z.strictObject({ movement: movementSchema, ...standing, created: z.boolean() })

/**
 * Places a movement, or joins the one that has this id already. Answers after the first try. The intent is
 * durable before the wallet is called. Throws WALLET_NOT_CONFIGURED, TRANSACTION_CONFLICT,
 * TRANSACTION_NOT_FOUND (unknown reference), TRANSACTION_ALREADY_REVERSED, CONFLICT, VALIDATION_ERROR
 * (amount, currency, reference_transaction_id), ROUND_IN_PROGRESS for a final win while a stake of the round
 * is pending and for any win while no stake stands but one is on its way, ROUND_ALREADY_SETTLED when no stake
 * can stand any more, and WALLET_UNAVAILABLE without a resource when the breaker refuses a new stake, or
 * SERVICE_UNAVAILABLE when too many wait for the wallet (nothing is written then). A stake that met the
 * wallet's tombstone on its first try is `refused` with status ROLLED_BACK.
 */
export const placeMovement = defineCall('wallet.v1.movement.place', {
  callers: ['rounds'],
  request: z.strictObject({
    scope: scopeSchema,
    spec: movementSpec,
    /**
     * Of a ROLLBACK: the stake that it voids, recorded as never to be sent when it was not placed yet. Of a
     * REFUND: the stake, which rounds knows as taken, recorded as SUCCESS when it is lost here.
     */
    stake: movementSpec.optional(),
  }),
  reply: placed,
  budgetMs: 17_000,
  neverShed: true,
})

/**
 * The age in milliseconds from which on no living process has left a stake alone: the 15 s of its tries, and
 * a minute, which is more than a wallet call is held. Source: ours.
 */
export const stakeLifeMs = 75_000

/**
 * Gives back a stake whose fate at the wallet is unknown. Inserts the stake's record if there is none (never
 * to be sent), then owes a rollback and tries it once. `done` in the reply means that the rollback is
 * acknowledged. A stake with a definite refusal stays as it is (`refused`), and so does a stake that is
 * SUCCESS; the reply shows it. A stake older than `stakeLifeMs` stays pending until others have been asked
 * about it, for databases may have been restored; one without a record needs `askedAt` for that.
 */
export const voidStake = defineCall('wallet.v1.movement.void-stake', {
  callers: ['rounds'],
  request: z.strictObject({
    scope: scopeSchema,
    stake: movementSpec,
    rollbackTransactionId: transactionId,
    /** When the stake was asked for, or earlier, if that is longer ago than `stakeLifeMs`. */
    askedAt: z.iso.datetime().optional(),
  }),
  reply: z.strictObject({
    stake: movementSchema,
    rollback: movementSchema.nullable(),
    ...standing,
  }),
  budgetMs: 17_000,
  neverShed: true,
})

/** A movement with its outcome, or null, for repeats, settlement and recovery. */
export const showMovement = defineCall('wallet.v1.movement.show', {
  callers: ['rounds'],
  request: z.strictObject({ scope: scopeSchema, transactionId }),
  reply: z
    .strictObject({
      movement: movementSchema,
      ...standing,
      requestHash: z.string(),
      driver: z.enum(['game', 'operator']),
      /** False while the first try has no answer. */
      answered: z.boolean(),
    })
    .nullable(),
  budgetMs: 3000,
  neverShed: true,
})

/** All movements of a round, oldest first (at most 500). */
export const roundMovements = defineCall('wallet.v1.movement.of-round', {
  callers: ['ops', 'rounds'],
  request: z.strictObject({ scope: scopeSchema, roundId }),
  reply: z.strictObject({
    data: z.array(z.strictObject({ movement: movementSchema, ...standing })),
  }),
})

/** The player's balance as the wallet tells it; null when the wallet does not answer properly. */
export const playerBalance = defineCall('wallet.v1.balance.show', {
  callers: ['rounds'],
  request: z.strictObject({ scope: scopeSchema, playerId, currency, sessionId, walletGameId: uuid }),
  reply: z.strictObject({ balance: z.strictObject({ amount: balance, currency }).nullable() }),
  budgetMs: 6000,
})

/** Whether a wallet is configured: without one a stake is refused before any write. None is ever removed. */
export const walletStatus = defineCall('wallet.v1.wallet.status', {
  callers: ['rounds'],
  request: z.strictObject({ scope: scopeSchema }),
  reply: z.strictObject({
    configured: z.boolean(),
    breakerOpen: z.boolean(),
    /** For rounds of a former build, which did not learn it with the stake. */
    settleLosses: settleLosses.optional(),
  }),
  budgetMs: 2000,
})

/**
 * A wallet's signed hint (docs/contract.md, section 11). `rawBody` is base64; the signature is checked first.
 * INVALID_SIGNATURE, VALIDATION_ERROR, TRANSACTION_NOT_FOUND.
 */
export const walletCallback = defineCall('wallet.v1.callback.receive', {
  token: { none: "the wallet's signature proves who asks" },
  request: z.strictObject({
    operator: z.string().max(64),
    environment: z.string().max(16),
    rawBody: z.string().max(131_072),
    timestamp: z.string().max(64).nullable(),
    signature: z.string().max(256).nullable(),
  }),
  reply: z.null(),
})

const chunk = {
  request: z.strictObject({
    scope: scopeSchema,
    rows: z.array(operatorsLedgerRow).max(2000),
    from: z.string(),
    to: z.string(),
  }),
  reply: z.strictObject({
    differences: z.array(
      z.strictObject({
        kind: z.enum(['extra', 'different', 'duplicate']),
        transaction_id: z.string(),
        fields: z.array(
          z.strictObject({ field: z.string(), ours: z.string().nullable(), theirs: z.string().nullable() }),
        ),
      }),
    ),
    matched: z.int(),
  }),
  budgetMs: 15_000,
}
const ours = {
  request: z.strictObject({
    scope: scopeSchema,
    from: z.string(),
    to: z.string(),
    after: z.string().nullable(),
  }),
  reply: z.strictObject({
    rows: z.array(ledgerRow),
    next: z.string().nullable(),
  }),
  budgetMs: 15_000,
}
/** A comparison may take that much longer than its token lives. */
const ledgerS = 15 * 60

/** A chunk of an operator's ledger against ours; chunks come in ledger order, then `last`. */
export const reconcileChunk = defineCall('wallet.v1.reconciliation.compare', {
  ...chunk,
  token: tokenOfOperator(({ scope }: { scope: Scope }) => scope, ledgerS),
})
/** Pages of our movements that moved money; the gateway finds those that the operator lacks. */
export const reconcileOurs = defineCall('wallet.v1.reconciliation.ours', {
  ...ours,
  token: tokenOfOperator(({ scope }: { scope: Scope }) => scope, ledgerS),
})
/** The same for operations, who have no token. */
export const opsReconcileChunk = defineCall('wallet.v1.ops.reconciliation-compare', { ...chunk })
export const opsReconcileOurs = defineCall('wallet.v1.ops.reconciliation-ours', { ...ours })
