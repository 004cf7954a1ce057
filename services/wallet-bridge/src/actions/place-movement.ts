import { notStarted } from '@pitboss/bus/call-failure'
import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Mailbox } from '@pitboss/runtime/mailbox'
import { liveTraceparent } from '@pitboss/tracing/spans'
import type { Breakers } from '../clients/breakers.ts'
import { documentOf, initialState, uncalledState } from '../records/new-movement.ts'
import { advanceMovement } from '../rules/advance-movement.ts'
import type { MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movements.ts'
import type { Wallet, Wallets } from '../storage/wallet-document.ts'
import type { AdvanceDue, AwaitFirstTry } from './advance-due.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import {
  createPlaceReversal,
  findStored,
  refuseOtherRequest,
  type Stored,
  storeOnce,
} from './place-reversal.ts'
import { beginCall, type RunCall } from './run-call.ts'

export type PlaceContext = { readonly requestId: string; readonly deadlineAtMs: number }
/** `stake`: of a rollback, the stake that it voids. */
export type PlaceOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec | undefined }
export type PlaceMovement = (scope: Scope, order: PlaceOrder, context: PlaceContext) => Promise<Stored>

export type PlaceDeps = ApplyDeps & {
  apply: ApplyMessage
  advance: AdvanceDue
  awaitFirstTry: AwaitFirstTry
  runCall: RunCall
  /** Runs the work on one movement one at a time in this process. */
  inTurn: Mailbox
  breakers: Breakers
  wallets: Wallets
}

const stakesPerWalletMax = 256

/**
 * Places a movement, or joins the one that has its id. The intent, with the exact bytes to send, is stored
 * before the wallet is called. Answers after the first try. Source: docs/contract.md, section 5.
 * @throws ServiceError WALLET_NOT_CONFIGURED, TRANSACTION_CONFLICT, TRANSACTION_NOT_FOUND,
 * TRANSACTION_ALREADY_REVERSED, CONFLICT, VALIDATION_ERROR, ROUND_IN_PROGRESS, ROUND_ALREADY_SETTLED;
 * WALLET_UNAVAILABLE or SERVICE_UNAVAILABLE for a new stake that is held back
 */
export function createPlaceMovement(deps: PlaceDeps): PlaceMovement {
  const { movements, wallets, advance, awaitFirstTry, runCall, inTurn, breakers, clock, scaleMs, newId } =
    deps
  const placeReversal = createPlaceReversal(deps)
  const stakesInFlight = new Map<string, number>()

  return async function placeMovement(scope, { spec, stake }, context) {
    if (spec.type === 'REFUND' || spec.type === 'ROLLBACK') {
      return placeReversal(scope, { spec: { ...spec, type: spec.type }, stake }, context)
    }
    const [wallet, refusal] = await Promise.all([
      wallets.open(scope),
      spec.type === 'WIN' && !spec.freeBet ? winRefusal(scope, spec) : null,
    ])
    if (refusal !== null) return joinOrThrow(scope, spec, context, refusal)
    if (isUncalled(spec, wallet)) return record(scope, spec)
    if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
    if (spec.type === 'WIN') return send(scope, spec, wallet, context)
    // A repeat sends nothing, so it must not use up the one probe that an open breaker lets through.
    const present = breakers.isOpen(wallet.key) ? await movements.find(scope, spec.transactionId) : null
    if (present !== null) return join(present, spec, context)
    if (!breakers.admit(wallet.key)) {
      return joinOrThrow(scope, spec, context, new ServiceError('WALLET_UNAVAILABLE'))
    }
    return boundStakes(wallet.key, () => send(scope, spec, wallet, context))
  }

  /**
   * The error for a win while no stake of its round is taken; null when the win may be sent. Without any
   * stake of the round here, this database has lost them and the win is sent: rounds owes no credit before
   * its stake is taken. Source: docs/contract.md, section 12.
   */
  async function winRefusal(
    scope: Scope,
    { roundId, roundClosed }: MovementSpec,
  ): Promise<ServiceError | null> {
    const stakes = await movements.stakesOf(scope, roundId)
    const isPending = stakes.some(({ status }) => status === 'PENDING')
    if (roundClosed && isPending) return stakePending()
    const isTaken = stakes.some(({ status, reversal }) => status === 'SUCCESS' && reversal === null)
    if (isTaken || stakes.length === 0) return null
    const isReturning = stakes.some(({ status }) => status === 'SUCCESS')
    return isPending || isReturning ? stakePending() : new ServiceError('ROUND_ALREADY_SETTLED')
  }

  /**
   * Stores the intent and makes the first try. One insert stores the movement with its call begun, which
   * saves a write; every later call is begun by an update in advance-due.ts, with the same message and the
   * same `runCall`.
   */
  async function send(
    scope: Scope,
    spec: MovementSpec,
    wallet: Wallet,
    context: PlaceContext,
  ): Promise<Stored> {
    const at = clock.now()
    const idle = initialState(spec.type, at)
    const reference = newId('txn')
    const traceparent = liveTraceparent()
    const make = (state: MovementState) =>
      documentOf({
        ...{ scope, spec, reference, state, traceparent },
        ...{ walletUrl: wallet.url, bigWins: wallet.bigWins },
      })
    const begun = make(advanceMovement(idle, beginCall(wallet, at, newId), scaleMs).state)
    await failpoint('wallet.before-intent')
    const inserted = await movements.insert(begun)
    if (inserted === 'inserted') {
      await failpoint('wallet.intent-stored')
      const document = await inTurn(begun._id, () => firstTry(begun, wallet, context.requestId))
      return { document, created: true }
    }
    if (inserted === 'taken') return join(await findStored(movements, begun._id), spec, context)
    const waiting = await storeOnce(movements, make(idle))
    if (!waiting.created) return join(waiting.document, spec, context)
    return { document: await awaitFirstTry(waiting.document, context), created: true }
  }

  async function firstTry(
    begun: MovementDocument,
    wallet: Wallet,
    requestId: string,
  ): Promise<MovementDocument> {
    const after = await runCall(begun, wallet, requestId)
    if (after.reversal !== null && !after.reversal.placed) await advance.placeReversal(after)
    return after
  }

  /** Joins the movement if it is stored already; a new one is refused. */
  async function joinOrThrow(
    scope: Scope,
    spec: MovementSpec,
    context: PlaceContext,
    refusal: ServiceError,
  ): Promise<Stored> {
    const present = await movements.find(scope, spec.transactionId)
    if (present === null) throw refusal
    return join(present, spec, context)
  }

  async function join(present: MovementDocument, spec: MovementSpec, context: PlaceContext): Promise<Stored> {
    refuseOtherRequest(present, spec)
    return { document: await awaitFirstTry(present, context), created: false }
  }

  /** Stores a zero win that calls no wallet. */
  async function record(scope: Scope, spec: MovementSpec): Promise<Stored> {
    const state = uncalledState(clock.now())
    const stored = await storeOnce(movements, documentOf({ scope, spec, reference: newId('txn'), state }))
    if (!stored.created) refuseOtherRequest(stored.document, spec)
    return stored
  }

  /** Bounds the stakes that wait for one wallet, so that a wallet that hangs does not fill the process. */
  async function boundStakes<Result>(walletKey: string, work: () => Promise<Result>): Promise<Result> {
    const inFlight = stakesInFlight.get(walletKey) ?? 0
    if (inFlight >= stakesPerWalletMax) {
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: notStarted })
    }
    stakesInFlight.set(walletKey, inFlight + 1)
    try {
      return await work()
    } finally {
      const left = (stakesInFlight.get(walletKey) ?? 1) - 1
      if (left === 0) stakesInFlight.delete(walletKey)
      else stakesInFlight.set(walletKey, left)
    }
  }
}

function stakePending(): ServiceError {
  const message = 'A stake of this round is pending or on its way back.'
  return new ServiceError('ROUND_IN_PROGRESS', { message })
}

/** Tells whether the movement is a zero win of which the wallet is not told. */
export function isUncalled(spec: MovementSpec, wallet: Pick<Wallet, 'settleLosses'> | null): boolean {
  if (spec.type !== 'WIN' || !/^0(\.0+)?$/.test(spec.amount)) return false
  return !(spec.callWallet ?? wallet?.settleLosses === 'zero_credit')
}
