import { formatAmount, isAmount } from '@pitboss/money/amount'
import { type MessageOf, refuse, type Step } from './round-message.ts'
import { endWhenNothingIsLeft, releaseReversal, settleWhenPaid, winFailed } from './round-parts.ts'
import { hasMovement, movementsOf, type RoundState, type Stake, sum, type Win } from './round.ts'

type AddMessage = MessageOf<'add-stake' | 'add-win' | 'add-reversal'>

/** Movements that one round can have; keeps its document bounded. Source: ours. */
const movementsMax = 400

/**
 * Adds a movement that the operator's own server asks for to a round, or takes such an intent back. The
 * intent is part of the state before the wallet is asked, so a stake, a win and a reversal exclude each other
 * by this one document. Source: docs/contract.md, sections 5 and 11.
 */
export function changeOperatorRound(round: RoundState, message: AddMessage | MessageOf<'withdraw'>): Step {
  if (message.type === 'withdraw') return withdraw(round, message.transactionId)
  if (round.driver !== 'operator')
    return refuse('VALIDATION_ERROR', { path: 'round_id', message: 'is a round that the service plays' })
  const added = 'stake' in message ? message.stake : 'win' in message ? message.win : message.reversal
  if (hasMovement(round, added.transactionId)) return 'unchanged'
  if (movementsOf(round).length >= movementsMax)
    return refuse('CONFLICT', { message: 'This round has as many movements as a round can have.' })
  if (message.type === 'add-stake') return addStake(round, message)
  if (message.type === 'add-win') return addWin(round, message)
  return addReversal(round, message)
}

function addStake(round: RoundState, { stake }: MessageOf<'add-stake'>): Step {
  if (round.status === 'PENDING') return refuse('ROUND_IN_PROGRESS')
  if (round.status !== 'OPEN') return refuse('ROUND_ALREADY_SETTLED')
  // The last stake is on its way back, and its return says to the wallet that it closes the round.
  if (!round.stakes.some(({ state }) => state === 'TAKEN' || state === 'ASKED'))
    return refuse('ROUND_IN_PROGRESS')
  const stakes = [...round.stakes, stake]
  if (!isAmount(sum(stakes), round.currency)) return tooMuch('stakes')
  return { ...round, stakes }
}

/** Whether a win must wait: the rules refuse it with ROUND_IN_PROGRESS while a stake is pending. */
export function waitsForStake(round: RoundState, { final }: Pick<Win, 'final'>): boolean {
  const isHeld = round.stakes.some(({ state }) => state === 'TAKEN')
  if (round.status !== 'PENDING' && (round.status !== 'OPEN' || (isHeld && !final))) return false
  return round.stakes.some(isPending)
}

function isPending({ state, wasTaken }: Stake): boolean {
  return state === 'ASKED' || (state === 'RETURNING' && !wasTaken)
}

function addWin(round: RoundState, { win, outcome }: MessageOf<'add-win'>): Step {
  if (round.status === 'PENDING') return refuse('ROUND_IN_PROGRESS')
  if (round.status !== 'OPEN') return refuse('ROUND_ALREADY_SETTLED')
  const pending = round.stakes.some(isPending)
  const held = round.stakes.some(({ state }) => state === 'TAKEN')
  if ((win.final && pending) || !held) return refuse('ROUND_IN_PROGRESS')
  const wins = [...round.wins, win]
  const payout = sum(wins.filter(({ state }) => state === 'OWED' || state === 'PAID'))
  if (!isAmount(payout, round.currency)) return tooMuch('wins')
  if (round.winsMax !== undefined && payout > round.winsMax) {
    const most = `${formatAmount(round.winsMax, round.currency)} ${round.currency}`
    return refuse('BET_LIMIT_EXCEEDED', {
      message: `The wins of the round would be above ${most}, the greatest payout that the account has set.`,
    })
  }
  const added = { ...round, wins, outcome: outcome ?? round.outcome }
  if (!win.final) return added
  const endReason = round.endReason === winFailed ? winFailed : 'settled'
  return { ...added, payout, status: 'SETTLING', endReason }
}

function addReversal(round: RoundState, { reversal }: MessageOf<'add-reversal'>): Step {
  const reference = reversal.referenceTransactionId
  const stake = round.stakes.find(({ transactionId }) => transactionId === reference)
  if (stake !== undefined) {
    if (stake.state === 'RETURNED' || stake.state === 'RETURNING')
      return refuse('TRANSACTION_ALREADY_REVERSED')
    if (round.status === 'SETTLING' || round.status === 'SETTLED') return refuse('ROUND_ALREADY_SETTLED')
    if (stake.state === 'REFUSED')
      return refuse('CONFLICT', { message: 'The stake was refused; nothing can be given back.' })
    if (stake.state === 'ASKED' && reversal.type === 'REFUND')
      return refuse('CONFLICT', { message: 'The stake is still pending; roll it back instead.' })
    const stakes = round.stakes.map((one) => (one === stake ? { ...one, state: 'RETURNING' as const } : one))
    // A credit of the round is owed or stands at the wallet.
    const hasWin = round.wins.some(({ state }) => state !== 'REVERSED')
    if (hasWin && !stakes.some(({ state }) => state === 'TAKEN')) {
      const why = 'A win of this round is owed or paid, and this is its last stake; roll the win back first.'
      return refuse('CONFLICT', { message: why })
    }
    const closes = !stakes.some(({ state }) => state === 'TAKEN' || state === 'ASKED')
    return { ...round, stakes, reversals: [...round.reversals, { ...reversal, closes }] }
  }
  const win = round.wins.find(({ transactionId }) => transactionId === reference)
  if (win === undefined) return refuse('TRANSACTION_NOT_FOUND')
  if (reversal.type === 'REFUND')
    return refuse('VALIDATION_ERROR', { path: 'reference_transaction_id', message: 'must be a stake' })
  if (win.state === 'OWED') return refuse('CONFLICT', { message: 'The win is still pending.' })
  if (win.state !== 'PAID') {
    const isReversed = round.reversals.some((one) => one.referenceTransactionId === reference)
    if (isReversed) return refuse('TRANSACTION_ALREADY_REVERSED')
    return refuse('CONFLICT', { message: 'The win failed; there is nothing to roll back.' })
  }
  const wins = round.wins.map((one) => (one === win ? { ...one, state: 'REVERSING' as const } : one))
  return { ...round, wins, reversals: [...round.reversals, reversal] }
}

/** Takes back an intent that was certainly never written; a first stake goes back with its round. */
function withdraw(round: RoundState, transactionId: string): Step {
  const isThis = (one: { transactionId: string }) => one.transactionId === transactionId
  if (round.stakes.some((one) => isThis(one) && one.state === 'ASKED') && round.status === 'OPEN') {
    const stakes = round.stakes.filter((one) => !isThis(one))
    return endWhenNothingIsLeft({ ...round, stakes }, 'returned')
  }
  const win = round.wins.find(isThis)
  if (round.driver === 'operator' && win?.state === 'OWED') {
    const wins = round.wins.filter((one) => !isThis(one))
    if (!win.final) return settleWhenPaid({ ...round, wins })
    const endReason = round.endReason === winFailed ? winFailed : null
    return { ...round, wins, status: 'OPEN', payout: null, endReason }
  }
  if (round.reversals.some((one) => isThis(one) && one.state === 'OWED'))
    return settleWhenPaid(releaseReversal(round, transactionId, 'REMOVED'))
  return 'unchanged'
}

/** Stake and payout of an operator's round; final once it has ended. */
export function operatorSums(round: RoundState): Pick<RoundState, 'stake' | 'payout'> {
  const { status, stakes, wins, payout } = round
  const paid = sum(wins.filter(({ state }) => state === 'OWED' || state === 'PAID'))
  const isDecided = status === 'SETTLING' || status === 'SETTLED'
  return { stake: operatorStake(stakes), payout: isDecided ? paid : payout }
}

/** The stake that such a round shows: the sum that it holds, or else the sum that it once asked for. */
function operatorStake(stakes: readonly Stake[]): bigint {
  const held = sum(stakes.filter(({ state, wasTaken }) => wasTaken && state !== 'RETURNED'))
  if (held > 0n) return held
  const asked = sum(stakes.filter(({ state }) => state !== 'REFUSED'))
  return asked > 0n ? asked : sum(stakes)
}

function tooMuch(what: 'stakes' | 'wins'): Step {
  const message = `must not bring the ${what} of the round above 15 digits before the point`
  return refuse('VALIDATION_ERROR', { path: 'amount', message })
}
