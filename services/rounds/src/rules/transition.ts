import { winRequestHash } from '@pitboss/contracts/told-win'
import type { PlayState } from '@pitboss/fairness/games/game'
import { formatMultiplier, multiplyFloor } from '@pitboss/money/rational'
import { changeOperatorRound, operatorSums } from './operator-round.ts'
import {
  type MessageOf,
  type PlayerAction,
  refuse,
  type RoundChange,
  type RoundContext,
  type RoundMessage,
  type Step,
} from './round-message.ts'
import {
  completeReversal,
  endWhenNothingIsLeft,
  endWin,
  failReversal,
  winFailed,
  withStake,
} from './round-parts.ts'
import { factOf, historyMax, isUnfinished, type RoundState, type Stake, type Win } from './round.ts'

/**
 * The round's state machine: pure and total. A message that is true already answers `unchanged`, so repeats
 * and late results do no harm. Source: docs/contract.md, the table of section 4 and section 11, "Play".
 */
export function transition(round: RoundState, message: RoundMessage, context: RoundContext): RoundChange {
  const step = change(round, message, context)
  if (step === 'unchanged') return { kind: 'unchanged' }
  if ('kind' in step) return step
  return finish(round, step, message.type, context)
}

function change(round: RoundState, message: RoundMessage, context: RoundContext): Step {
  switch (message.type) {
    case 'stake-taken':
      return takeStake(round, message, context)
    case 'stake-refused':
      return refuseStake(round, message)
    case 'stake-returned':
      return returnStake(round, message)
    case 'grant-used':
      return round.status === 'PENDING' && round.freeBet ? begin(round, context) : 'unchanged'
    case 'grant-denied':
      if (round.status !== 'PENDING' || !round.freeBet) return 'unchanged'
      return { ...round, status: 'VOIDED', payout: 0n, endReason: 'free_bet_gone' }
    case 'grant-returned':
      return round.grantReturn === 'OWED' ? { ...round, grantReturn: 'DONE' } : 'unchanged'
    case 'reveal':
    case 'cash-out':
      return act(round, message, context)
    case 'abandon':
      return abandon(round, message.since, context)
    case 'end-as-told':
      return endAsTold(round, message, context)
    case 'learn-end-reason':
      // Of a stake that is unknown again, since the database was set back.
      if (round.status !== 'PENDING' || round.endReason === message.endReason) return 'unchanged'
      return { ...round, endReason: message.endReason }
    case 'win-paid':
      return endWin(round, message.transactionId, 'PAID')
    case 'win-failed':
      return endWin(round, message.transactionId, 'REVERSED')
    case 'reversal-done':
      return completeReversal(round, message.transactionId)
    case 'reversal-failed':
      return failReversal(round, message.transactionId)
    case 'add-stake':
    case 'add-win':
    case 'add-reversal':
    case 'withdraw':
      return changeOperatorRound(round, message)
  }
}

function takeStake(round: RoundState, message: MessageOf<'stake-taken'>, context: RoundContext): Step {
  const { transactionId, settleLosses = round.settleLosses } = message
  const stake = undecidedStake(round, transactionId)
  if (stake === undefined) return 'unchanged'
  const state = stake.state === 'RETURNING' ? 'RETURNING' : 'TAKEN'
  const taken = withStake({ ...round, settleLosses }, { ...stake, state, wasTaken: true })
  if (round.status !== 'PENDING') return taken
  return state === 'TAKEN' ? begin(taken, context) : { ...taken, status: 'OPEN' }
}

function undecidedStake({ stakes }: RoundState, transactionId: string): Stake | undefined {
  const stake = stakes.find((one) => one.transactionId === transactionId)
  const isOpen = stake?.state === 'ASKED' || stake?.state === 'RETURNING'
  return isOpen && !stake.wasTaken ? stake : undefined
}

function refuseStake(round: RoundState, { transactionId, code }: MessageOf<'stake-refused'>): Step {
  const stake = undecidedStake(round, transactionId)
  if (stake === undefined) return 'unchanged'
  const refused = withStake(round, { ...stake, state: 'REFUSED', refusal: code })
  if (round.status !== 'PENDING') return endWhenNothingIsLeft(refused, 'returned')
  return { ...refused, status: 'FAILED', refusal: code, payout: 0n, endReason: 'refused' }
}

function returnStake(round: RoundState, { transactionId, refusal }: MessageOf<'stake-returned'>): Step {
  const stake = round.stakes.find((one) => one.transactionId === transactionId)
  if (stake === undefined || stake.state === 'RETURNED' || stake.state === 'REFUSED') return 'unchanged'
  // A stake of a round that plays or has paid is given back only by its own reversal.
  if (stake.state === 'TAKEN' && round.status !== 'PENDING' && round.status !== 'OPEN') return 'unchanged'
  const known = { ...round, refusal: refusal ?? round.refusal }
  const returned = withStake(known, { ...stake, state: 'RETURNED', refusal })
  return endWhenNothingIsLeft(returned, stake.wasTaken ? 'returned' : 'stake_not_taken')
}

/** One-shot games are drawn at once; stepwise ones wait for the player. */
function begin(round: RoundState, context: RoundContext): RoundState {
  if (round.driver === 'operator') return { ...round, status: 'OPEN' }
  return applyPlay({ ...round, status: 'OPEN' }, context.play([], false), context)
}

function act(round: RoundState, message: PlayerAction, context: RoundContext): Step {
  if (round.driver === 'operator')
    return refuse('VALIDATION_ERROR', { path: 'round_id', message: 'is not played here' })
  if (round.status === 'PENDING') return refuse('ROUND_IN_PROGRESS')
  if (round.status !== 'OPEN')
    return isFinalAction(round, message) ? 'unchanged' : refuse('ROUND_ALREADY_SETTLED')
  if (isBeingReturned(round)) return refuse('ROUND_ALREADY_SETTLED')
  if (message.type === 'cash-out') {
    if (round.actions.length === 0)
      return refuse('VALIDATION_ERROR', { path: 'round_id', message: 'open a tile before you cash out' })
    const ended = applyPlay(round, context.play(round.actions, true), context)
    return { ...ended, lastActionAt: context.now, finalAction: { kind: 'cashout' } }
  }
  if (round.actions.includes(message.tile)) return 'unchanged'
  const next = applyPlay(round, context.play([...round.actions, message.tile], false), context)
  const finalAction = next.status === 'OPEN' ? null : ({ kind: 'reveal', tile: message.tile } as const)
  return { ...next, lastActionAt: context.now, finalAction }
}

function isFinalAction({ finalAction }: RoundState, message: PlayerAction): boolean {
  if (finalAction === null) return false
  if (message.type === 'cash-out') return finalAction.kind === 'cashout'
  return finalAction.kind === 'reveal' && finalAction.tile === message.tile
}

/** Ends a round that its player has left. A player who has acted in the meantime has not. */
function abandon(round: RoundState, since: Date, context: RoundContext): Step {
  if (round.lastActionAt > since) return 'unchanged'
  if (round.driver !== 'game' || round.status !== 'OPEN' || isBeingReturned(round)) return 'unchanged'
  if (round.actions.length > 0)
    return { ...applyPlay(round, context.play(round.actions, true), context), endReason: 'abandoned' }
  return round.freeBet ? giveGrantBack(round) : giveStakeBack(round, context)
}

function giveStakeBack(round: RoundState, context: RoundContext): Step {
  const [stake] = round.stakes
  if (stake === undefined) return 'unchanged'
  const [transactionId, referenceTransactionId] = [context.refundId(), stake.transactionId]
  const refund = { type: 'REFUND', requestHash: 'abandoned', closes: true, state: 'OWED' } as const
  const reversal = { transactionId, referenceTransactionId, ...refund }
  const returning = withStake(round, { ...stake, state: 'RETURNING' })
  return { ...returning, reversals: [...round.reversals, reversal], endReason: 'abandoned' }
}

function giveGrantBack(round: RoundState): RoundState {
  return { ...round, status: 'VOIDED', payout: 0n, endReason: 'abandoned', grantReturn: 'OWED' }
}

/** Ends a round as it had ended before a restore: seed and bet give the same outcome, payout and win id. */
function endAsTold(round: RoundState, told: MessageOf<'end-as-told'>, context: RoundContext): Step {
  const { play, endReason } = told
  if (round.status === 'PENDING') return refuse('ROUND_IN_PROGRESS')
  if (round.status !== 'OPEN') return 'unchanged'
  const other = refuse('CONFLICT', { message: 'Seed and bet of the round give another end.' })
  if (round.driver === 'operator' || isBeingReturned(round)) return other
  if (play === null) {
    // The refund has the paid one's id. Why a stake went back otherwise, wallet-bridge knows.
    if (round.actions.length > 0 || endReason !== 'abandoned') return other
    return round.freeBet ? giveGrantBack(round) : giveStakeBack(round, context)
  }
  const drawn = applyPlay(round, context.play(play.actions, true), context)
  const [win] = drawn.wins
  // A win that a person had ended as failed is not paid now either.
  const ended =
    endReason === winFailed && win !== undefined ? endWin(drawn, win.transactionId, 'REVERSED') : drawn
  if (ended === 'unchanged' || 'kind' in ended) return other
  if (ended.status === 'OPEN' || ended.payout !== play.payout) return other
  const finalAction = finalActionOf(drawn, endReason)
  return { ...ended, endReason, finalAction, lastActionAt: context.now }
}

/** The action that ended the round; null when the clock did, or a game of one shot. */
function finalActionOf(ended: RoundState, endReason: string | null): RoundState['finalAction'] {
  if (ended.endReason === 'cashout') return endReason === 'abandoned' ? null : { kind: 'cashout' }
  const tile = ended.actions.at(-1)
  return tile === undefined ? null : { kind: 'reveal', tile }
}

function isBeingReturned(round: RoundState): boolean {
  return round.stakes.some(({ state }) => state === 'RETURNING')
}

function applyPlay(round: RoundState, play: PlayState, context: RoundContext): RoundState {
  if (!play.over) {
    return {
      ...round,
      actions: play.actions,
      multiplier: play.multiplier === null ? null : formatMultiplier(play.multiplier),
      progress: { tilesOpened: play.actions, nextMultiplier: formatMultiplier(play.nextMultiplier) },
    }
  }
  const payout = multiplyFloor(round.stake, play.multiplier)
  const owesCredit = payout > 0n || (round.settleLosses === 'zero_credit' && !round.freeBet)
  const credit = { transactionId: context.winId(), minor: payout, requestHash: winRequestHash }
  const win: Win = { ...credit, final: true, state: 'OWED' }
  return {
    ...round,
    status: owesCredit ? 'SETTLING' : 'SETTLED',
    actions: play.actions,
    progress: null,
    multiplier: formatMultiplier(play.multiplier),
    outcome: play.outcome,
    payout,
    wins: owesCredit ? [win] : [],
    endReason: play.endedBy,
  }
}

/** Adds events, report and time to a change, and reveals the seed of a round that is over now. */
function finish(before: RoundState, changed: RoundState, type: string, context: RoundContext): RoundChange {
  const starts = !before.started && ['OPEN', 'SETTLING', 'SETTLED'].includes(changed.status)
  const started = before.started || starts
  const ends = isUnfinished(before) && !isUnfinished(changed)
  const what = before.status === changed.status ? type : `${type}: ${before.status} → ${changed.status}`
  const round: RoundState = {
    ...changed,
    started,
    ...(changed.driver === 'operator' && isUnfinished(before) ? operatorSums(changed) : {}),
    serverSeed: ends ? context.serverSeed : changed.serverSeed,
    progress: ends ? null : changed.progress,
    completedAt: ends ? context.now : changed.completedAt,
    updatedAt: context.now,
    history: [...before.history, { at: context.now, what }].slice(-historyMax),
  }
  const completes = ends && started
  const events = [
    ...(starts ? (['round.started'] as const) : []),
    ...(completes ? (['round.completed'] as const) : []),
  ]
  return { kind: 'changed', round, events, fact: factOf(before, round, completes) }
}
