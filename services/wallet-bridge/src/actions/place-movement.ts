import { notStarted } from '@pitboss/bus/call-failure'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { advanceMovement } from '../rules/advance-movement.ts'
import type { MovementMessage, MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { Wallet, Wallets } from '../storage/wallet-document.ts'
import type { AdvanceDue } from './advance-due.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import type { AwaitFirstTry } from './await-first-try.ts'
import type { Breakers } from '../clients/breakers.ts'
import { documentOf, initialState, normaliseAmount, uncalledState } from '../records/new-movement.ts'
import { recordNeverSent } from './record-never-sent.ts'
import { callLeaseMs } from './run-call.ts'

export type PlaceContext = { readonly requestId: string; readonly deadlineAtMs: number }
export type Placed = { readonly document: MovementDocument; readonly created: boolean }
/** `stake`: of a rollback, the stake that it voids. */
export type PlaceOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec | undefined }
export type PlaceMovement = (scope: Scope, order: PlaceOrder, context: PlaceContext) => Promise<Placed>

export type PlaceDeps = ApplyDeps & {
  apply: ApplyMessage
  advance: AdvanceDue
  awaitFirstTry: AwaitFirstTry
  breakers: Breakers
  wallets: Wallets
}

const stakesPerWalletMax = 256

/**
 * Places a movement or joins the one that has its id. The intent, with the exact bytes to send, is durable before the wallet
 * is called; the answer comes after the first try. Source: contract section 5.
 * @throws ServiceError WALLET_NOT_CONFIGURED, TRANSACTION_CONFLICT, TRANSACTION_NOT_FOUND, TRANSACTION_ALREADY_REVERSED, CONFLICT,
 * VALIDATION_ERROR, ROUND_IN_PROGRESS, and WALLET_UNAVAILABLE or SERVICE_UNAVAILABLE for a new stake that is not let through.
 */
export function createPlaceMovement(deps: PlaceDeps): PlaceMovement {
  const { movements, wallets, advance, awaitFirstTry, breakers, clock, scaleMs, newId } = deps
  const placeReversal = createPlaceReversal(deps)
  const stakesInFlight = new Map<string, number>()

  return async function placeMovement(scope, { spec, stake }, context) {
    if (spec.type === 'REFUND' || spec.type === 'ROLLBACK') {
      return placeReversal(scope, { spec: { ...spec, type: spec.type }, stake }, context)
    }
    const [wallet, held] = await Promise.all([
      wallets.open(scope),
      spec.type === 'WIN' && !spec.freeBet ? winRefusal(scope, spec) : null,
    ])
    if (held !== null) return joinOrThrow(scope, spec, context, held)
    if (isUncalled(spec, wallet)) return record(scope, spec)
    if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
    if (spec.type === 'WIN') return send(scope, spec, wallet, context)
    // A repeat sends nothing, so it must not use up the one probe that may go now.
    const present = breakers.isOpen(wallet.key) ? await movements.find(scope, spec.transactionId) : null
    if (present !== null) return join(present, spec, context)
    if (!breakers.admit(wallet.key)) {
      return joinOrThrow(scope, spec, context, new ServiceError('WALLET_UNAVAILABLE'))
    }
    return boundStakes(wallet.key, () => send(scope, spec, wallet, context))
  }

  /**
   * What a win is refused with while no stake of its round stands. Contract section 12. A round without any
   * stake here is one whose stakes this database has lost: then rounds, which never owes a credit before
   * its stake is taken, is believed.
   */
  async function winRefusal(
    scope: Scope,
    { roundId, roundClosed }: MovementSpec,
  ): Promise<ServiceError | null> {
    const stakes = await movements.stakesOf(scope, roundId)
    const isPending = stakes.some(({ status }) => status === 'PENDING')
    if (roundClosed && isPending) return stakePending()
    const stands = stakes.some(({ status, reversal }) => status === 'SUCCESS' && reversal === null)
    if (stands || stakes.length === 0) return null
    const isReturning = stakes.some(({ status }) => status === 'SUCCESS')
    return isPending || isReturning ? stakePending() : new ServiceError('ROUND_ALREADY_SETTLED')
  }

  async function send(
    scope: Scope,
    spec: MovementSpec,
    wallet: Wallet,
    context: PlaceContext,
  ): Promise<Placed> {
    const at = clock.now()
    const idle = initialState(spec.type, at)
    const begin = { kind: 'call-begun', at, token: newId('call'), leaseMs: callLeaseMs(wallet) } as const
    const reference = newId('txn')
    const make = (state: MovementState) => documentOf({ scope, spec, reference, state })
    const begun = make(advanceMovement(idle, begin, scaleMs).state)
    await failpoint('wallet.before-intent')
    const inserted = await movements.insert(begun)
    if (inserted === 'inserted') {
      await failpoint('wallet.intent-stored')
      return { document: await advance.runBegun(begun, wallet, context.requestId), created: true }
    }
    if (inserted === 'round-busy') {
      const waiting = make(idle)
      if ((await movements.insert(waiting)) === 'inserted') {
        return { document: await awaitFirstTry(waiting, context), created: true }
      }
    }
    const present = await movements.findById(begun._id)
    if (present === null) throw new Error(`the movement ${begun._id} is there and is not`)
    return join(present, spec, context)
  }

  /** What is new must not be sent now; what exists already is joined all the same. */
  async function joinOrThrow(
    scope: Scope,
    spec: MovementSpec,
    context: PlaceContext,
    held: ServiceError,
  ): Promise<Placed> {
    const present = await movements.find(scope, spec.transactionId)
    if (present === null) throw held
    return join(present, spec, context)
  }

  async function join(present: MovementDocument, spec: MovementSpec, context: PlaceContext): Promise<Placed> {
    refuseOtherRequest(present, spec)
    return { document: await awaitFirstTry(present, context), created: false }
  }

  /** Stores a zero win that calls no wallet. */
  async function record(scope: Scope, spec: MovementSpec): Promise<Placed> {
    const state = uncalledState(clock.now())
    const document = documentOf({ scope, spec, reference: newId('txn'), state })
    if ((await movements.insert(document)) === 'inserted') return { document, created: true }
    const present = await movements.findById(document._id)
    if (present === null) throw new Error(`the movement ${document._id} is there and is not`)
    refuseOtherRequest(present, spec)
    return { document: present, created: false }
  }

  /** A wallet that hangs must not fill this process with stakes that wait for it. */
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

/** Gives back what a caller names. The original's one `reversal` field decides who may. */
function createPlaceReversal(deps: PlaceDeps) {
  const { movements, apply, advance, awaitFirstTry, clock, newId } = deps

  return async function placeReversal(
    scope: Scope,
    {
      spec,
      stake,
    }: { spec: MovementSpec & { type: 'REFUND' | 'ROLLBACK' }; stake: MovementSpec | undefined },
    context: PlaceContext,
  ): Promise<Placed> {
    const present = await movements.find(scope, spec.transactionId)
    if (present !== null) {
      refuseOtherRequest(present, spec)
      return { document: await awaitFirstTry(present, context), created: false }
    }
    const message = {
      kind: 'reversal-asked',
      at: clock.now(),
      type: spec.type,
      reversal: { transactionId: spec.transactionId, reference: newId('txn') },
      requestHash: spec.requestHash,
      roundClosed: spec.roundClosed,
    } as const
    const { original, isNew } = await originalOf(scope, spec, stake, message)
    if (stake !== undefined) refuseOtherRequest(original, stake)
    refuseOtherAmount(original, spec)
    const asked = await apply(original, message)
    if (asked.step.kind === 'refused') {
      const { code, message } = asked.step
      throw code === 'VALIDATION_ERROR'
        ? invalidField('reference_transaction_id', message)
        : new ServiceError(code, { message })
    }
    if (asked.document.reversal?.requestHash !== spec.requestHash) {
      throw new ServiceError('TRANSACTION_CONFLICT')
    }
    await failpoint('wallet.reversal-asked')
    const reversal = await advance.placeReversal(asked.document)
    if (reversal === null) throw new ServiceError('TRANSACTION_CONFLICT')
    return {
      document: await awaitFirstTry(reversal, context),
      created: isNew || asked.kind === 'applied',
    }
  }

  /**
   * The movement to give back. A stake that was never placed is recorded together with its rollback
   * (`isNew`), never to be sent: one that is still on its way here finds it voided. @throws ServiceError
   * TRANSACTION_NOT_FOUND, WALLET_NOT_CONFIGURED
   */
  async function originalOf(
    scope: Scope,
    { type, referenceTransactionId }: MovementSpec,
    stake: MovementSpec | undefined,
    message: MovementMessage,
  ): Promise<{ original: MovementDocument; isNew: boolean }> {
    const present =
      referenceTransactionId === null ? null : await movements.find(scope, referenceTransactionId)
    if (present !== null) return { original: present, isNew: false }
    const isOwn = stake?.transactionId === referenceTransactionId && stake?.type === 'BET'
    if (type !== 'ROLLBACK' || stake === undefined || !isOwn) throw new ServiceError('TRANSACTION_NOT_FOUND')
    const { document, isNew } = await recordNeverSent(deps, { scope, stake, message })
    return { original: document, isNew }
  }
}

function stakePending(): ServiceError {
  const message = 'A stake of this round is pending or on its way back.'
  return new ServiceError('ROUND_IN_PROGRESS', { message })
}

function isUncalled(spec: MovementSpec, wallet: Wallet | null): boolean {
  if (spec.type !== 'WIN' || !/^0(\.0+)?$/.test(spec.amount)) return false
  return !(spec.callWallet ?? wallet?.settleLosses === 'zero_credit')
}

/** The round counts too: two players may choose the same id for the same bet, and one debit must not serve both. */
function refuseOtherRequest(present: MovementDocument, spec: MovementSpec): void {
  const { requestHash, type, roundId } = spec
  if (present.requestHash !== requestHash || present.type !== type || present.roundId !== roundId) {
    throw new ServiceError('TRANSACTION_CONFLICT')
  }
}

function refuseOtherAmount(original: MovementDocument, spec: MovementSpec): void {
  if (spec.currency !== original.currency) {
    throw invalidField('currency', `must be ${original.currency}, as the original's`)
  }
  if (normaliseAmount(spec.amount, spec.currency) !== original.amount) {
    throw invalidField('amount', `must be ${original.amount}: a movement is given back in full`)
  }
}
