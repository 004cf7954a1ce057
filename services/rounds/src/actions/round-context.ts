import { multiplyFloor } from '@pitboss/money/rational'
import type { Clock } from '@pitboss/runtime/clock'
import type { Catalogue } from '../rules/catalogue.ts'
import type { RoundContext } from '../rules/round-message.ts'
import type { RoundState } from '../rules/round.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import { chainOf } from '../storage/round-document.ts'

type RoundContextDeps = {
  commitments: Pick<CommitmentsStore, 'open'>
  catalogue: Catalogue
  clock: Clock
  newId: (prefix: string) => string
}

/**
 * Binds clock, ids, the round's own seed and the rules of its game to one round, for the transition. The seed
 * is unsealed only when it is used. A game draws from the seed and the nonce alone, so a second draw gives
 * the same.
 */
export function createRoundContext({
  commitments,
  catalogue,
  clock,
  newId,
}: RoundContextDeps): (round: RoundState) => RoundContext {
  return function contextOf(round) {
    const seed = () => commitments.open(chainOf(round), round.nonce, round.sealedSeed)
    return {
      now: clock.now(),
      newWinId: () => newId('win'),
      newRefundId: () => newId('ref'),
      get serverSeed() {
        return seed()
      },
      play(actions, cashOut) {
        const entry = catalogue.find(round.game)
        const parsed = entry?.game.parseBet(round.bet)
        if (entry === null || parsed?.ok !== true) {
          throw new Error(`round ${round.id} cannot be played: ${round.game} does not know its bet`)
        }
        return parsed.wager.play({
          seeds: { serverSeed: seed(), clientSeed: round.clientSeed, nonce: round.nonce },
          rtp: entry.rtp,
          actions,
          cashOut,
          payoutFits: (multiplier) => multiplyFloor(round.stake, multiplier) <= round.maxPayout,
        })
      },
    }
  }
}
