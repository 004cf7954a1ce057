import type { Scope } from '@pitboss/contracts/caller'
import type { Nonce, Player } from '@pitboss/contracts/objects/player'
import { formatAmount } from '@pitboss/money/amount'
import { isUnfinished, roundTotals, type RoundState } from '../../../rules/round.ts'
import type { ListedCommitment } from '../../../storage/commitments-store.ts'
import type { RoundSums } from '../../../storage/round-lists.ts'
import { presentRound } from '../../../records/present-round.ts'

/** What is known of a player in one environment; `last` is the newest round of a game. */
export type PlayerView = {
  readonly playerId: string
  readonly scope: Scope
  readonly lastSessionAt: Date | null
  readonly activeSessions: number
  readonly freeBets: number
  readonly games: readonly PlayedGame[]
  readonly from: Date
  readonly to: Date
  readonly sums: readonly RoundSums[]
  readonly complete: boolean
}

export type PlayedGame = {
  readonly game: string
  readonly lastNonce: number
  readonly last: RoundState | null
}

export type NonceView = Pick<Nonce, 'nonce' | 'state'> & {
  readonly commitment: ListedCommitment | null
  readonly round: RoundState | null
}

/** The public record of a player. Source: docs/contract.md, section 3, "Player". */
export function presentPlayer({ scope, games, sums, ...player }: PlayerView): Player {
  return {
    player_id: player.playerId,
    environment: scope.environment,
    last_session_at: player.lastSessionAt?.toISOString() ?? null,
    active_sessions: player.activeSessions,
    free_bets: player.freeBets,
    games: games.map(({ game, lastNonce, last }) => ({
      game,
      last_nonce: lastNonce,
      last_round_at: last?.createdAt.toISOString() ?? null,
      unfinished_round: last !== null && isUnfinished(last) ? last.id : null,
    })),
    from: player.from.toISOString(),
    to: player.to.toISOString(),
    play: presentSums(sums),
    complete: player.complete,
  }
}

/** The sums of rounds that are over, by currency, as reports count them. */
function presentSums(sums: readonly RoundSums[]): Player['play'] {
  const over = sums.filter(({ started, completedAt }) => started && completedAt !== null)
  return [...Map.groupBy(over, ({ currency }) => currency)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, rounds]) => {
      const totals = rounds.map(roundTotals)
      const sum = (part: 'stakes' | 'payouts' | 'refunds') =>
        totals.reduce((total, one) => total + one[part], 0n)
      const [stakes, payouts, refunds] = [sum('stakes'), sum('payouts'), sum('refunds')]
      return {
        currency,
        rounds: rounds.length,
        stakes: formatAmount(stakes, currency),
        payouts: formatAmount(payouts, currency),
        refunds: formatAmount(refunds, currency),
        ggr: formatAmount(stakes - refunds - payouts, currency),
      }
    })
}

/** A nonce of a player's game. Source: docs/contract.md, section 3, "Book". */
export function presentNonce({ nonce, state, commitment, round }: NonceView): Nonce {
  return {
    nonce,
    state,
    commitment:
      commitment === null
        ? null
        : {
            server_seed_hash: commitment.serverSeedHash,
            committed_at: commitment.createdAt.toISOString(),
          },
    round: round === null ? null : presentRound(round),
  }
}
