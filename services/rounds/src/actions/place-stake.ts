import type { CallContext } from '@pitboss/contracts/call'
import type { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Placed } from '../clients/wallet.ts'
import { assertDone, resourceOf, stakeSpec, unknownOutcome } from '../rules/movement.ts'
import type { Stake } from '../rules/round.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { PlayerHold } from '../hooks.ts'
import type { Parts } from './parts.ts'

/** `taken-back`: the intent is gone again, its round with it if this was its first stake. */
export type PlacedStake =
  | { readonly kind: 'placed'; readonly stored: StoredRound; readonly placed: Placed }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

export type PlaceStake = (
  stored: StoredRound,
  transactionId: string,
  context: CallContext,
  /** The limits of the player; null for a player without. */
  hold: PlayerHold | null,
) => Promise<PlacedStake>

/**
 * Asks wallet-bridge for a stake whose intent is stored and that is within the limits of its player, and
 * gives the round the answer. Only the request
 * that stored the intent does this. So an intent whose movement was certainly not written can be taken back
 * whole, and its nonce serves the next round: "a refusal before the wallet is asked leaves no round"
 * (docs/contract.md, section 11). An intent that cannot be taken back has an unknown outcome: "a definite
 * answer is true for ever" (section 12).
 * @throws ServiceError the wallet's refusal; WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the
 * outcome is unknown
 */
export function createPlaceStake({
  rounds,
  wallet,
  actor,
  logger,
}: Pick<Parts, 'rounds' | 'wallet' | 'actor' | 'logger'>): PlaceStake {
  /** False when another worker may have placed the stake meanwhile. */
  async function takeBack(stored: StoredRound, stake: Stake): Promise<boolean> {
    if (stored.round.status !== 'PENDING') {
      return actor.withdraw(stored, stake.transactionId)
    }
    const removed = await rounds.remove(stored)
    if (!removed) logger.warn({ round_id: stored.round.id }, 'intent.left-to-sweeper')
    return removed
  }

  return async function placeStake(stored, transactionId, context, hold) {
    const { round } = stored
    const stake = round.stakes.find((one) => one.transactionId === transactionId)
    if (stake === undefined) throw new Error(`round ${round.id} lost its stake ${transactionId}`)
    const resource = resourceOf(round, transactionId)
    // What limits count has to be in the lists: a charge whose round is not there was never asked for.
    if (hold !== null) await rounds.show(round.id)
    const refused = (await hold?.charge(round, stake)) ?? null
    if (refused !== null) {
      if (await takeBack(stored, stake)) return { kind: 'taken-back', error: refused }
      throw unknownOutcome(resource, refused)
    }
    const placement = await wallet.place(scopeOf(round), { spec: stakeSpec(round, stake) }, context)
    await failpoint('rounds.stake-placed')
    if (placement.kind === 'not-written' && (await takeBack(stored, stake))) {
      return { kind: 'taken-back', error: placement.error }
    }
    if (placement.kind !== 'placed') throw unknownOutcome(resource, placement.error)
    const { placed } = placement
    const learned = await actor.learn(stored, placed.movement, placed.outcome)
    assertDone(placed.outcome, resource, round.clientTransactionId !== null)
    return { kind: 'placed', stored: learned, placed }
  }
}
