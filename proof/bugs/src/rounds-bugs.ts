import type { Bus } from '@pitboss/bus/connect-bus'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import { formatAmount, parseAmount } from '@pitboss/money/amount'
import type { Rational } from '@pitboss/money/rational'
import type { Placement, WalletClient } from '@pitboss/rounds/clients/wallet'
import { findPlayer } from '@pitboss/rounds/actions/player-page'
import { playRound } from '@pitboss/rounds/actions/play-round'
import { placeTransaction } from '@pitboss/rounds/actions/place-transaction'
import { allWings } from '@pitboss/rounds/all-wings'
import type { RoundsProof } from '@pitboss/rounds/open-context'
import type { HasBug } from './bugs.ts'
import type { RoundContext } from '@pitboss/rounds/rules/round-message'
import { transition } from '@pitboss/rounds/rules/transition'
import type { Wing } from '@pitboss/rounds/wing'
import { reports, reportsContext, serveReports } from '@pitboss/rounds/wings/reports/wing'
import { busWith } from './bus-bugs.ts'
import { catalogueWith } from './draw-bugs.ts'
import { commitmentsWith, grantsWith, reportsWith, roundsStoreWith } from './rounds-store-bugs.ts'

/** The bugs of rounds. Each part goes through unchanged unless its bug is named. */

/** The parts of a rounds service that errs. */
export function roundsWith(has: HasBug): RoundsProof {
  return {
    bus: (bus: Bus) => busWith(bus, has),
    context: (context) => ({
      ...context,
      rounds: roundsStoreWith(context.rounds, has),
      commitments: commitmentsWith(context.commitments, has),
      grants: grantsWith(context.grants, has),
      rules: rulesWith(has),
      catalogue: catalogueWith(context.catalogue, has),
      wallet: walletWith(context.wallet, has),
    }),
    wings: allWings.map((wing) => (wing === reports ? reportsWingWith(has) : wing)),
    placeTransaction: placeTransactionWith(has),
  }
}

function reportsWingWith(has: HasBug): Wing {
  return {
    ...reports,
    open(core, { db }) {
      const context = reportsContext(core, db)
      return serveReports({ ...context, reports: reportsWith(context.reports, has) })
    },
  }
}

/** Answers a known id with another body by the first record. */
function placeTransactionWith(has: HasBug): typeof placeTransaction {
  if (!has('rounds.other-body-accepted')) return placeTransaction
  return async (context, caller, body, call) => {
    try {
      return await placeTransaction(context, caller, body, call)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'TRANSACTION_CONFLICT') throw error
      const shown = await context.wallet.show(caller.scope, body.transaction_id, call)
      if (shown === null) throw error
      return { status: 200, body: shown.movement }
    }
  }
}

/** Answers an id that has a round of another session by that round, whatever the request meant. */
export function playRoundWith(has: HasBug): typeof playRound {
  if (!has('rounds.currency-of-id-ignored')) return playRound
  return async (context, caller, body, call) => {
    try {
      return await playRound(context, caller, body, call)
    } catch (error) {
      const { transaction_id: id } = body
      if (!(error instanceof ServiceError) || error.code !== 'TRANSACTION_CONFLICT') throw error
      const { scope, sequence, session } = await findPlayer(context, caller)
      const found = id === undefined ? null : await context.rounds.findRequest(scope, sequence, id)
      if (found === null || !('stored' in found) || found.stored.round.currency === session.currency)
        throw error
      return found.stored.round
    }
  }
}

/** Asks for a minor unit too much or under a new id, or takes an unknown outcome for a yes or a no. */
export function walletWith(wallet: WalletClient, has: HasBug): WalletClient {
  if (has('rounds.payout-one-more')) {
    return {
      ...wallet,
      place(scope, order, context) {
        const { spec } = order
        const minor = parseAmount(spec.amount, spec.currency)
        const more = spec.type === 'WIN' && minor > 0n ? minor + 1n : minor
        const amount = formatAmount(more, spec.currency)
        return wallet.place(scope, { ...order, spec: { ...spec, amount } }, context)
      },
    }
  }
  if (has('rounds.win-under-new-id')) {
    const asked = new Map<string, number>()
    return {
      ...wallet,
      place(scope, order, context) {
        const { type, transactionId: id } = order.spec
        const times = asked.get(id) ?? 0
        if (type === 'WIN') asked.set(id, times + 1)
        const spec = times === 0 ? order.spec : { ...order.spec, transactionId: `${id}.${times}` }
        return wallet.place(scope, { ...order, spec }, context)
      },
    }
  }
  if (has('rounds.silence-is-unwritten')) {
    return {
      ...wallet,
      async place(scope, order, context) {
        const placement = await wallet.place(scope, order, context)
        return placement.kind === 'unknown' ? { ...placement, kind: 'not-written' } : placement
      },
    }
  }
  if (has('rounds.unknown-stake-not-voided')) {
    return {
      ...wallet,
      async void(scope, asked, context) {
        const shown = await wallet.show(scope, asked.stake.transactionId, context)
        if (shown !== null) return wallet.void(scope, asked, context)
        return { stake: voided(scope, asked.stake), rollback: null, outcome: { kind: 'done' } }
      },
    }
  }
  if (has('rounds.pending-stake-counts')) {
    return {
      ...wallet,
      place: async (scope, order, context) => taken(await wallet.place(scope, order, context)),
    }
  }
  return wallet
}

/** What wallet-bridge would say of a stake that it has voided. */
function voided({ environment }: Scope, stake: MovementSpec): Movement {
  const at = new Date(0).toISOString()
  return {
    ...{ transaction_id: stake.transactionId, reference: '', type: stake.type, status: 'ROLLED_BACK' },
    ...{ amount: stake.amount, currency: stake.currency, player_id: stake.playerId, environment },
    ...{ session_id: stake.sessionId, round_id: stake.roundId, game: stake.game, free_bet: stake.freeBet },
    ...{ reference_transaction_id: null, wallet_transaction_id: null, wallet_code: null },
    ...{ balance_after: null, created_at: at, updated_at: at },
  }
}

function taken(placement: Placement): Placement {
  if (placement.kind !== 'placed' || placement.placed.movement.type !== 'BET') return placement
  const { placed } = placement
  if (placed.outcome.kind !== 'pending') return placement
  const movement = { ...placed.movement, status: 'SUCCESS' } as const
  return { kind: 'placed', placed: { ...placed, movement, outcome: { kind: 'done' } } }
}

/** Leaves a round open from which the last intent was taken back, makes ids anew, or rounds payouts up. */
export function rulesWith(has: HasBug): typeof transition {
  if (has('rounds.payout-half-up')) {
    return (round, message, context) => {
      let halfUp: bigint | null = null
      const play: RoundContext['play'] = (actions, cashOut) => {
        const state = context.play(actions, cashOut)
        if (state.over) halfUp = timesHalfUp(round.stake, state.multiplier)
        return state
      }
      const change = transition(round, message, Object.assign(Object.create(context), { play }))
      if (change.kind !== 'changed' || halfUp === null || change.round.payout === 0n) return change
      const payout: bigint = halfUp
      const wins = change.round.wins.map((win) => ({ ...win, minor: payout }))
      return { ...change, round: { ...change.round, payout, wins } }
    }
  }
  if (has('rounds.win-id-made-anew')) {
    return (round, message, context) => {
      const winId = () => `${context.winId()}.${context.now.getTime()}`
      return transition(round, message, Object.assign(Object.create(context), { winId }))
    }
  }
  if (!has('rounds.taken-back-leaves-open')) return transition
  return (round, message, context) => {
    const change = transition(round, message, context)
    if (message.type !== 'withdraw' || change.kind !== 'changed') return change
    const { status, completedAt, serverSeed, endReason, payout } = round
    const kept = { ...change.round, status, completedAt, serverSeed, endReason, payout }
    return { ...change, round: kept, events: [], fact: null }
  }
}

function timesHalfUp(minor: bigint, { n, d }: Rational): bigint {
  return (2n * minor * n + d) / (2n * d)
}
