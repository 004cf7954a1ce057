import { notStarted } from '@pitboss/bus/call-failure'
import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { liveTraceparent } from '@pitboss/tracing/spans'
import type { Settlement } from '../context.ts'
import { documentOf, initialState, uncalledState } from '../records/new-movement.ts'
import { winRefusal } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { InsertOptions } from '../storage/movement-store.ts'
import type { Wallet } from '../storage/wallet-document.ts'
import type { PlaceContext } from './advance-due.ts'
import { beginReversal } from './begin-reversal.ts'
import type { Placement, Stored } from './place-reversal.ts'
import { findStored, join, joinPresent, placeReversal, storeOnce } from './place-reversal.ts'
import { beginCall, runCall } from './run-call.ts'

type PlaceOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec | undefined }

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
  { spec, stake }: PlaceOrder,
  context: PlaceContext,
): Promise<Stored> {
  const { type } = spec
  const placement = { ...context, scope, spec }
  const stored =
    type === 'REFUND' || type === 'ROLLBACK'
      ? await placeReversal(settlement, { ...placement, spec: { ...spec, type }, stake })
      : await place(settlement, placement)
  // What the answer names, lists show.
  await settlement.movements.listed(stored.document)
  return stored
}

async function place(settlement: Settlement, placement: Placement): Promise<Stored> {
  const { wallets, breakers, stakePlaces } = settlement
  const { scope, spec } = placement
  const wallet = await wallets.open(scope)
  if (isUncalled(spec, wallet)) return record(settlement, placement)
  if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  if (spec.type === 'WIN') return send(settlement, placement, wallet)
  // A repeat sends nothing, so it must not use up the one probe that an open breaker lets through.
  const joined = breakers.isOpen(wallet.key) ? await joinPresent(settlement, placement) : null
  if (joined !== null) return joined
  if (!breakers.admit(wallet.key))
    return joinOrThrow(settlement, placement, new ServiceError('WALLET_UNAVAILABLE'))
  // Bounds the stakes that wait for one wallet, so that a wallet that hangs does not fill the process.
  const leave = stakePlaces.take(wallet.key)
  if (leave === null) throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: notStarted })
  return send(settlement, placement, wallet).finally(leave)
}

/** One entry stores the movement with its first call begun; later calls are begun in advance-due.ts. */
async function send(settlement: Settlement, placement: Placement, wallet: Wallet): Promise<Stored> {
  const { movements, rules, inTurn, clock, newId } = settlement
  const { scope, spec } = placement
  const at = clock.now()
  const idle = initialState(spec.type, at)
  const { url: walletUrl, bigWins, settleLosses } = wallet
  const ofWallet = { walletUrl, bigWins, settleLosses }
  const facts = { scope, spec, reference: newId('txn'), traceparent: liveTraceparent(), ...ofWallet }
  const begun = documentOf({ ...facts, state: rules(idle, beginCall(wallet, at, newId)).state })
  await failpoint('wallet.before-intent')
  const options = { ...checkOf(spec), isFirst: spec.type === 'BET' && spec.isAdded !== true }
  const inserted = await movements.insert(begun, options)
  if (inserted === 'taken') return join(settlement, await findStored(movements, begun._id), placement)
  if (typeof inserted === 'string') {
    // The wallet is being called for the round: the first try is made afterwards.
    const waiting = await storeOnce(movements, documentOf({ ...facts, state: idle }), checkOf(spec))
    return join(settlement, waiting, placement)
  }
  if ('refused' in inserted) return joinOrThrow(settlement, placement, inserted.refused)
  await failpoint('wallet.intent-stored')
  const work = () => firstTry(settlement, inserted, wallet, placement.requestId)
  return { document: await inTurn(begun._id, work), created: true }
}

async function firstTry(settlement: Settlement, begun: MovementDocument, wallet: Wallet, requestId: string) {
  const after = await runCall(settlement, begun, wallet, requestId)
  if (after.reversal !== null && !after.reversal.placed) await beginReversal(settlement, after, null)
  return after
}

/** Joins the movement if it is stored already; a new one is refused. */
async function joinOrThrow(settlement: Settlement, placement: Placement, refusal: ServiceError) {
  const joined = await joinPresent(settlement, placement)
  if (joined === null) throw refusal
  return joined
}

async function record(settlement: Settlement, placement: Placement): Promise<Stored> {
  const { movements, clock, newId } = settlement
  const { scope, spec } = placement
  const document = documentOf({ scope, spec, reference: newId('txn'), state: uncalledState(clock.now()) })
  const inserted = await movements.insert(document, checkOf(spec))
  if (typeof inserted === 'string')
    return join(settlement, await findStored(movements, document._id), placement)
  if ('refused' in inserted) return joinOrThrow(settlement, placement, inserted.refused)
  return { document: inserted, created: true }
}

/** The check of a win against the stakes of its round; none for other movements. */
function checkOf(spec: MovementSpec): Pick<InsertOptions, 'check'> {
  if (spec.type !== 'WIN' || spec.freeBet) return {}
  return {
    check(stakes) {
      const code = winRefusal(stakes, spec.roundClosed)
      if (code !== 'ROUND_IN_PROGRESS') return code && new ServiceError(code)
      return new ServiceError(code, { message: 'A stake of this round is pending or on its way back.' })
    },
  }
}

/** Whether the movement is a zero win without a wallet call. */
export function isUncalled(spec: MovementSpec, wallet: Pick<Wallet, 'settleLosses'> | null): boolean {
  if (spec.type !== 'WIN' || !/^0(\.0+)?$/.test(spec.amount)) return false
  return !(spec.callWallet ?? wallet?.settleLosses === 'zero_credit')
}
