import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { formatAmount } from '@pitboss/money/amount'
import type { Reversal, RoundState, Stake, Win } from './round.ts'

/** A request to wallet-bridge. With the rollback of a stake goes the stake, in case it was never placed. */
export type MovementOrder = { readonly spec: MovementSpec; readonly stake?: MovementSpec }

/**
 * The request for a stake's debit. As of all here, the same part of the same round gives the same request for
 * ever.
 */
export function stakeSpec(round: RoundState, stake: Stake): MovementSpec {
  return {
    ...common(round),
    transactionId: stake.transactionId,
    type: 'BET',
    amount: formatAmount(stake.minor, round.currency),
    roundClosed: false,
    referenceTransactionId: null,
    requestHash: stake.requestHash,
  }
}

/**
 * The request for the credit of a win. With an amount of zero, wallet-bridge decides whether the wallet is
 * called.
 */
export function winSpec(round: RoundState, win: Win): MovementSpec {
  return {
    ...common(round),
    transactionId: win.transactionId,
    type: 'WIN',
    amount: formatAmount(win.minor, round.currency),
    roundClosed: win.final,
    referenceTransactionId: null,
    requestHash: win.requestHash,
  }
}

/** The request for the return of a stake (REFUND, a credit) or for the voiding of a movement (ROLLBACK). */
export function reversalOrder(round: RoundState, reversal: Reversal): MovementOrder {
  const isReference = ({ transactionId }: { transactionId: string }) =>
    transactionId === reversal.referenceTransactionId
  const stake = round.stakes.find(isReference)
  const reference = stake ?? round.wins.find(isReference)
  const spec: MovementSpec = {
    ...common(round),
    transactionId: reversal.transactionId,
    type: reversal.type,
    amount: formatAmount(reference?.minor ?? 0n, round.currency),
    roundClosed: reversal.closes,
    referenceTransactionId: reversal.referenceTransactionId,
    requestHash: reversal.requestHash,
  }
  return reversal.type === 'ROLLBACK' && stake !== undefined
    ? { spec, stake: stakeSpec(round, stake) }
    : { spec }
}

function common(round: RoundState) {
  return {
    currency: round.currency,
    playerId: round.playerId,
    sessionId: round.sessionId,
    roundId: round.id,
    walletRoundId: round.walletRoundId,
    walletGameId: round.walletGameId,
    game: round.game,
    brandId: round.brandId,
    freeBet: round.freeBet,
    driver: round.driver,
    callWallet: null,
  }
}
