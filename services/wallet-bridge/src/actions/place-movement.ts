import { notStarted } from '@pitboss/bus/call-failure'
import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { liveTraceparent } from '@pitboss/tracing/spans'
import type { Settlement } from '../context.ts'
import { documentOf, initialState, uncalledState } from '../records/new-movement.ts'
import type { MovementState } from '../rules/movement.ts'
import { winRefusal } from '../rules/win-refusal.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { InsertOptions } from '../storage/movement-store.ts'
import type { Wallet } from '../storage/wallet-document.ts'
import { awaitFirstTry } from './advance-due.ts'
import { beginReversal } from './begin-reversal.ts'
import { findStored, placeReversal, refuseOtherRequest, type Stored, storeOnce } from './place-reversal.ts'
import { beginCall, runCall } from './run-call.ts'

export type PlaceContext = { readonly requestId: string; readonly deadlineAtMs: number }
export type PlaceOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec | undefined }

const stakesPerWalletMax = 256

/**
 * Places a movement, or joins the one that has its id. The intent, with the exact bytes to send, is stored
 * before the wallet is called. Answers after the first try. Source: docs/contract.md, section 5.
 * @throws ServiceError WALLET_NOT_CONFIGURED, TRANSACTION_CONFLICT, TRANSACTION_NOT_FOUND,
 * TRANSACTION_ALREADY_REVERSED, CONFLICT, VALIDATION_ERROR, ROUND_IN_PROGRESS, ROUND_ALREADY_SETTLED;
 * WALLET_UNAVAILABLE or SERVICE_UNAVAILABLE for a new stake that is held back
 */
export async function placeMovement(
  settlement: Settlement,
  scope: Scope,
  order: PlaceOrder,
  context: PlaceContext,
): Promise<Stored> {
  const stored = await place(settlement, scope, order, context)
  // What the answer names, lists show.
  await settlement.movements.listed(stored.document)
  return stored
}

async function place(
  settlement: Settlement,
  scope: Scope,
  { spec, stake }: PlaceOrder,
  context: PlaceContext,
): Promise<Stored> {
  if (spec.type === 'REFUND' || spec.type === 'ROLLBACK') {
    return placeReversal(settlement, scope, { spec: { ...spec, type: spec.type }, stake }, context)
  }
  const { wallets, breakers, movements } = settlement
  const wallet = await wallets.open(scope)
  if (isUncalled(spec, wallet)) return record(settlement, scope, spec, context)
  if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  if (spec.type === 'WIN') return send(settlement, scope, spec, wallet, context)
  // A repeat sends nothing, so it must not use up the one probe that an open breaker lets through.
  const present = breakers.isOpen(wallet.key) ? await movements.find(scope, spec.transactionId) : null
  if (present !== null) return join(settlement, present, spec, context)
  if (!breakers.admit(wallet.key)) {
    return joinOrThrow(settlement, scope, spec, context, new ServiceError('WALLET_UNAVAILABLE'))
  }
  return boundStakes(settlement, wallet.key, () => send(settlement, scope, spec, wallet, context))
}

/** One entry stores the movement with its first call begun; later calls are begun in advance-due.ts. */
async function send(
  settlement: Settlement,
  scope: Scope,
  spec: MovementSpec,
  wallet: Wallet,
  context: PlaceContext,
): Promise<Stored> {
  const { movements, rules, inTurn, clock, newId } = settlement
  const at = clock.now()
  const idle = initialState(spec.type, at)
  const reference = newId('txn')
  const traceparent = liveTraceparent()
  const make = (state: MovementState) =>
    documentOf({
      ...{ scope, spec, reference, state, traceparent },
      ...{ walletUrl: wallet.url, bigWins: wallet.bigWins },
    })
  const begun = make(rules(idle, beginCall(wallet, at, newId)).state)
  await failpoint('wallet.before-intent')
  const options = { ...checkOf(spec), isFirst: spec.type === 'BET' && spec.isAdded !== true }
  const inserted = await movements.insert(begun, options)
  if (inserted === 'taken') return join(settlement, await findStored(movements, begun._id), spec, context)
  if (typeof inserted === 'string') return waitForTurn(settlement, make(idle), spec, context)
  if ('refused' in inserted) return joinOrThrow(settlement, scope, spec, context, inserted.refused)
  await failpoint('wallet.intent-stored')
  const work = () => firstTry(settlement, inserted, wallet, context.requestId)
  return { document: await inTurn(begun._id, work), created: true }
}

/** Stores a movement of a round whose wallet is being called, and makes its first try afterwards. */
async function waitForTurn(
  settlement: Settlement,
  idle: MovementDocument,
  spec: MovementSpec,
  context: PlaceContext,
): Promise<Stored> {
  const waiting = await storeOnce(settlement.movements, idle, checkOf(spec))
  if (!waiting.created) return join(settlement, waiting.document, spec, context)
  return { document: await awaitFirstTry(settlement, waiting.document, context), created: true }
}

async function firstTry(
  settlement: Settlement,
  begun: MovementDocument,
  wallet: Wallet,
  requestId: string,
): Promise<MovementDocument> {
  const after = await runCall(settlement, begun, wallet, requestId)
  if (after.reversal !== null && !after.reversal.placed) await beginReversal(settlement, after, null)
  return after
}

/** Joins the movement if it is stored already; a new one is refused. */
async function joinOrThrow(
  settlement: Settlement,
  scope: Scope,
  spec: MovementSpec,
  context: PlaceContext,
  refusal: ServiceError,
): Promise<Stored> {
  const present = await settlement.movements.find(scope, spec.transactionId)
  if (present === null) throw refusal
  return join(settlement, present, spec, context)
}

async function join(
  settlement: Settlement,
  present: MovementDocument,
  spec: MovementSpec,
  context: PlaceContext,
): Promise<Stored> {
  refuseOtherRequest(present, spec)
  return { document: await awaitFirstTry(settlement, present, context), created: false }
}

async function record(
  settlement: Settlement,
  scope: Scope,
  spec: MovementSpec,
  context: PlaceContext,
): Promise<Stored> {
  const { movements, clock, newId } = settlement
  const state = uncalledState(clock.now())
  const document = documentOf({ scope, spec, reference: newId('txn'), state })
  const inserted = await movements.insert(document, checkOf(spec))
  if (typeof inserted === 'string')
    return join(settlement, await findStored(movements, document._id), spec, context)
  if ('refused' in inserted) return joinOrThrow(settlement, scope, spec, context, inserted.refused)
  return { document: inserted, created: true }
}

/** Bounds the stakes that wait for one wallet, so that a wallet that hangs does not fill the process. */
async function boundStakes<Result>(
  { stakesInFlight }: Settlement,
  walletKey: string,
  work: () => Promise<Result>,
): Promise<Result> {
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

/** Whether the movement is a zero win without a wallet call. */
export function isUncalled(spec: MovementSpec, wallet: Pick<Wallet, 'settleLosses'> | null): boolean {
  if (spec.type !== 'WIN' || !/^0(\.0+)?$/.test(spec.amount)) return false
  return !(spec.callWallet ?? wallet?.settleLosses === 'zero_credit')
}
