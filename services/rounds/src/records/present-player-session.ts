import type { PlayerSession } from '@pitboss/contracts/endpoints/play'
import type { StakeRange } from '../rules/limits.ts'
import type { RoundState } from '../rules/round.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { presentUsableFreeBet } from './present-free-bet.ts'
import { presentGame } from './present-game.ts'
import { presentRound } from './present-round.ts'
import { presentSession } from './present-session.ts'

/** What a player's page shows. Source: docs/contract.md, section 11, "Play". */
export function presentPlayerSession(
  shown: {
    readonly now: Date
    readonly session: SessionDocument
    readonly game: Parameters<typeof presentGame>[0]
    readonly stakeRange: StakeRange | null
    readonly balance: PlayerSession['balance']
    readonly openRound: RoundState | null
    readonly next: { readonly serverSeedHash: string; readonly nonce: number }
    readonly freeBets: readonly Parameters<typeof presentUsableFreeBet>[0][]
    readonly fields: Pick<PlayerSession, 'protection'>
  },
  currencies: readonly string[],
) {
  const { session, openRound, next } = shown
  return {
    session: presentSession(session, shown.now),
    game: presentGame(shown.game, currencies, { currency: session.currency, range: shown.stakeRange }),
    balance: shown.balance,
    open_round: openRound === null ? null : presentRound(openRound),
    next_round: { server_seed_hash: next.serverSeedHash, nonce: next.nonce },
    free_bets: shown.freeBets.map(presentUsableFreeBet),
    ...shown.fields,
  }
}
