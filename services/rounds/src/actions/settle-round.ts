import type { CallContext } from '@pitboss/contracts/call'
import { scopeOf } from '@pitboss/contracts/caller'
import { type MovementSpec, stakeLifeMs } from '@pitboss/contracts/calls/wallet'
import type { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { PlayContext } from '../context.ts'
import { graceMs, isRecent } from '../rules/due-at.ts'
import { type MovementOrder, reversalOrder, stakeSpec, winSpec } from '../rules/movement.ts'
import { openMovementIds, type RoundState } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { applyMessage, applyMovement, refreshAll } from './change-round.ts'

type Settling = {
  readonly recover: boolean
  readonly call?: CallContext
  /** Called for each movement that wallet-bridge has and will publish the end of. */
  readonly onKnown?: (transactionId: string) => void
}

/** More than any round owes at once; a bound for the loop, not a rule. */
const stepsMax = 500

/**
 * Does the steps that the round owes until none can be done now. Only its state says what it owes, so any
 * worker on any replica goes on after a crash. A step that fails or waits holds up no other. @param recover
 * for workers that have claimed `stored`: settles stakes whose request is gone, too. Of an operator's round
 * it does only the steps of `stored`: the request of a later intent may still take that back.
 */
export async function settleRound(context: PlayContext, stored: StoredRound, options: Settling) {
  const { recover } = options
  let current = stored
  const stuck = new Set<string>()
  const claimed = recover && stored.round.driver === 'operator' ? openMovementIds(stored.round) : null
  const isLeft = (id: string) => stuck.has(id) || claimed?.includes(id) === false
  for (let count = 0; count < stepsMax; count++) {
    const step = nextStep(context, current, isLeft, options)
    if (step === null) return current
    const next = await step.take()
    if (next.version === current.version) stuck.add(step.id)
    current = next
  }
  return current
}

/** The next step that is owed and not stuck; null for none. It answers the round unchanged if it must wait. */
function nextStep(
  context: PlayContext,
  stored: StoredRound,
  isStuck: (id: string) => boolean,
  options: Settling,
): { readonly id: string; readonly take: () => Promise<StoredRound> } | null {
  const { round } = stored
  const { grantId, stakes, wins, reversals } = round
  if (grantId !== null && !isStuck(grantId)) {
    const settle = settleGrant.bind(null, context, stored, grantId)
    if (round.freeBet && round.status === 'PENDING') return { id: grantId, take: () => settle('use') }
    if (round.grantReturn === 'OWED') return { id: grantId, take: () => settle('return') }
  }
  const isNext = (one: { state: string; transactionId: string }, state: 'ASKED' | 'OWED') =>
    one.state === state && !isStuck(one.transactionId)
  const place = (order: MovementOrder) => ({
    id: order.spec.transactionId,
    take: () => placeOwed(context, stored, order, options),
  })
  const id = options.recover ? stakes.find((one) => isNext(one, 'ASKED'))?.transactionId : undefined
  if (id !== undefined) return { id, take: () => recoverStake(context, stored, id, options.call) }
  const win = wins.find((one) => isNext(one, 'OWED'))
  if (win !== undefined) return place({ spec: winSpec(round, win) })
  const reversal = reversals.find((one) => isNext(one, 'OWED'))
  return reversal === undefined ? null : place(reversalOrder(round, reversal))
}

async function settleGrant(context: PlayContext, stored: StoredRound, id: string, how: 'use' | 'return') {
  const { round } = stored
  if (how === 'return') {
    await context.grants.giveBack(scopeOf(round), id, round.id)
    return applyMessage(context, stored, { type: 'grant-returned' })
  }
  const used = await context.grants.use(scopeOf(round), id, round.id, context.clock.now())
  await failpoint('rounds.grant-used')
  return applyMessage(context, stored, { type: used ? 'grant-used' : 'grant-denied' })
}

async function placeOwed(context: PlayContext, stored: StoredRound, order: MovementOrder, options: Settling) {
  const { round } = stored
  const { call } = options
  const { spec } = order
  const { transactionId } = spec
  const placement = await context.wallet.place(scopeOf(round), order, call)
  if (placement.kind === 'not-written' && isSuperseded(round, spec, placement.error))
    return refreshAll(context, await applyMessage(context, stored, { type: 'withdraw', transactionId }), call)
  if (placement.kind !== 'placed') {
    if (placement.kind === 'not-written' && !placement.error.retryable)
      context.noteRefusedSettlement(round, transactionId, placement.error.code)
    const line = { err: placement.error, round_id: round.id, transaction_id: transactionId }
    context.logger.warn(line, 'settlement.deferred')
    return stored
  }
  await failpoint('rounds.settlement-placed')
  if (placement.placed.outcome.kind === 'pending') options.onKnown?.(transactionId)
  return applyMovement(context, stored, placement.placed)
}

/** Learns the result of a stake whose request may be gone; voids one that nobody asks for. */
async function recoverStake(context: PlayContext, stored: StoredRound, id: string, call?: CallContext) {
  const { round } = stored
  const shown = await context.wallet.show(scopeOf(round), id, call)
  if (shown !== null && shown.movement.round_id !== round.id)
    return applyMessage(context, stored, { type: 'stake-returned', transactionId: id, refusal: null })
  if (shown !== null) return applyMovement(context, stored, shown)
  if (await mayStillBeAsked(context, stored, id)) return stored
  return voidStake(context, stored, id, call)
}

/** Whether a request that asks for the stake may be at work; one on its way finds the stake voided. */
async function mayStillBeAsked({ rounds, clock }: PlayContext, stored: StoredRound, transactionId: string) {
  if (!isRecent(stored.round.updatedAt, clock.now(), graceMs)) return false
  return !(await rounds.hasAskerExited(stored, transactionId))
}

export async function voidStake(context: PlayContext, stored: StoredRound, id: string, call?: CallContext) {
  const { round } = stored
  const stake = round.stakes.find(({ transactionId }) => transactionId === id)
  if (stake === undefined) return stored
  const isFirst = round.stakes[0] === stake
  const rollbackId = isFirst ? round.rollbackTransactionId : `rbk_${stake.transactionId}`.slice(0, 128)
  // The time of an added stake is not stored: that of the round's last change says how old it may be.
  const isOld = !isRecent(isFirst ? round.createdAt : round.updatedAt, context.clock.now(), stakeLifeMs)
  const asked = {
    ...{ stake: stakeSpec(round, stake), rollbackTransactionId: rollbackId },
    ...(isOld ? { askedAt: round.createdAt.toISOString() } : {}),
  }
  const reply = await context.wallet.void(scopeOf(round), asked, call)
  await failpoint('rounds.stake-voided')
  return applyMovement(context, stored, { ...reply, movement: reply.stake })
}

const supersededWinCodes: readonly string[] = ['TRANSACTION_CONFLICT', 'ROUND_ALREADY_SETTLED']
const supersededReversalCodes: readonly string[] = [
  ...['TRANSACTION_ALREADY_REVERSED', 'TRANSACTION_NOT_FOUND', 'TRANSACTION_CONFLICT', 'CONFLICT'],
]

/**
 * Whether an operator's movement can never be, so that the round would wait for ever: its id is another
 * movement's; no stake of a win stands any more; or its stake was refused, or given back otherwise, before.
 */
function isSuperseded({ driver }: RoundState, { type }: MovementSpec, { code }: ServiceError): boolean {
  if (driver !== 'operator') return false
  return (type === 'WIN' ? supersededWinCodes : supersededReversalCodes).includes(code)
}
