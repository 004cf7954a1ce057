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
import { winRefusal } from '../rules/win-refusal.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { InsertOptions } from '../storage/movement-store.ts'
import type { Wallet, Wallets } from '../storage/wallet-document.ts'
import type { AdvanceDue, AwaitFirstTry } from './advance-due.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import type { BeginReversal } from './begin-reversal.ts'
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
  beginReversal: BeginReversal
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
  const {
    movements,
    wallets,
    beginReversal,
    awaitFirstTry,
    runCall,
    inTurn,
    breakers,
    clock,
    scaleMs,
    newId,
  } = deps
  const placeReversal = createPlaceReversal(deps)
  const stakesInFlight = new Map<string, number>()

  return async function placeMovement(scope, order, context) {
    const stored = await place(scope, order, context)
    // What the answer names, lists show.
    await movements.listed(stored.document)
    return stored
  }

  async function place(scope: Scope, { spec, stake }: PlaceOrder, context: PlaceContext): Promise<Stored> {
    if (spec.type === 'REFUND' || spec.type === 'ROLLBACK') {
      return placeReversal(scope, { spec: { ...spec, type: spec.type }, stake }, context)
    }
    const wallet = await wallets.open(scope)
    if (isUncalled(spec, wallet)) return record(scope, spec, context)
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
   * Stores the intent and makes the first try. One entry stores the movement with its call begun; every later
   * call is begun by an entry of its own in advance-due.ts, with the same message and the same `runCall`.
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
    const options = { ...checkOf(spec), isFirst: spec.type === 'BET' && spec.isAdded !== true }
    const inserted = await movements.insert(begun, options)
    if (inserted === 'taken') return join(await findStored(movements, begun._id), spec, context)
    if (typeof inserted === 'string') return waitForTurn(make(idle), spec, context)
    if ('refused' in inserted) return joinOrThrow(scope, spec, context, inserted.refused)
    await failpoint('wallet.intent-stored')
    const document = await inTurn(begun._id, () => firstTry(inserted, wallet, context.requestId))
    return { document, created: true }
  }

  /** Stores a movement of a round whose wallet is being called, and makes its first try afterwards. */
  async function waitForTurn(
    idle: MovementDocument,
    spec: MovementSpec,
    context: PlaceContext,
  ): Promise<Stored> {
    const waiting = await storeOnce(movements, idle, checkOf(spec))
    if (!waiting.created) return join(waiting.document, spec, context)
    return { document: await awaitFirstTry(waiting.document, context), created: true }
  }

  async function firstTry(
    begun: MovementDocument,
    wallet: Wallet,
    requestId: string,
  ): Promise<MovementDocument> {
    const after = await runCall(begun, wallet, requestId)
    if (after.reversal !== null && !after.reversal.placed) await beginReversal(after, null)
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
  async function record(scope: Scope, spec: MovementSpec, context: PlaceContext): Promise<Stored> {
    const state = uncalledState(clock.now())
    const document = documentOf({ scope, spec, reference: newId('txn'), state })
    const inserted = await movements.insert(document, checkOf(spec))
    if (typeof inserted === 'string') return join(await findStored(movements, document._id), spec, context)
    if ('refused' in inserted) return joinOrThrow(scope, spec, context, inserted.refused)
    return { document: inserted, created: true }
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

/** The check of a win against the stakes of its round; none for other movements. */
function checkOf(spec: MovementSpec): Pick<InsertOptions, 'check'> {
  if (spec.type !== 'WIN' || spec.freeBet) return {}
  return {
    check(stakes) {
      const code = winRefusal(stakes, spec)
      if (code !== 'ROUND_IN_PROGRESS') return code === null ? null : new ServiceError(code)
      const message = 'A stake of this round is pending or on its way back.'
      return new ServiceError(code, { message })
    },
  }
}

/** Tells whether the movement is a zero win of which the wallet is not told. */
export function isUncalled(spec: MovementSpec, wallet: Pick<Wallet, 'settleLosses'> | null): boolean {
  if (spec.type !== 'WIN' || !/^0(\.0+)?$/.test(spec.amount)) return false
  return !(spec.callWallet ?? wallet?.settleLosses === 'zero_credit')
}
