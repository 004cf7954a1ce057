import type { CallContext } from '@pitboss/contracts/call'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { RoundActor } from './round-actor.ts'
import type { Placed, WalletClient } from '../clients/wallet.ts'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { refusalOf } from '../rules/refusal.ts'
import type { RoundState, Stake } from '../rules/round.ts'
import { stakeSpec } from '../rules/movement-spec.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'

type PlaceStakeDeps = {
  rounds: RoundsStore
  wallet: WalletClient
  actor: RoundActor
  clock: Clock
  logger: Logger
}

/** `taken-back`: the intent is gone again, its round with it if this was its first stake. */
export type PlacedStake =
  | { readonly kind: 'placed'; readonly stored: StoredRound; readonly placed: Placed }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

export type PlaceStake = (stored: StoredRound, stake: Stake, context: CallContext) => Promise<PlacedStake>

/**
 * Asks wallet-bridge for the stake of a round whose intent is stored, and tells the round what came of it.
 * Only the one who stored the intent ever does this: so an intent whose movement was certainly not written
 * can be taken back whole, and the nonce serves the next round. Contract section 11: "a refusal before the
 * wallet is asked leaves no round". Who cannot take it back answers that its outcome is unknown: contract
 * section 12, "a definite answer is true for ever".
 * @throws ServiceError the wallet's refusal; WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the outcome is unknown.
 */
export function createPlaceStake({ rounds, wallet, actor, clock, logger }: PlaceStakeDeps): PlaceStake {
  /** False when somebody else may have placed it meanwhile. */
  async function takeBack(stored: StoredRound, stake: Stake, error: ServiceError): Promise<boolean> {
    if (stored.round.status !== 'PENDING') {
      return actor.withdraw(stored, stake.transactionId, refusalOf(error, stake, clock.now()))
    }
    const removed = await rounds.remove(stored)
    if (!removed) logger.warn({ round_id: stored.round.id }, 'intent.left-to-sweeper')
    return removed
  }

  return async function placeStake(stored, stake, context) {
    const { round } = stored
    const placement = await wallet.place(scopeOf(round), { spec: stakeSpec(round, stake) }, context)
    await failpoint('rounds.stake-placed')
    if (placement.kind === 'not-written' && (await takeBack(stored, stake, placement.error))) {
      return { kind: 'taken-back', error: placement.error }
    }
    if (placement.kind !== 'placed') {
      throw new ServiceError('WALLET_TIMEOUT', {
        resource: resourceOf(round, stake),
        cause: placement.error,
      })
    }
    const { placed } = placement
    const learned = await actor.learn(stored, placed.movement, placed.outcome)
    const { outcome } = placed
    if (outcome.kind === 'refused') throw new ServiceError(outcome.code)
    if (outcome.kind === 'pending') {
      throw new ServiceError(outcome.code, { resource: resourceOf(round, stake) })
    }
    return { kind: 'placed', stored: learned, placed }
  }
}

/** What a caller can look at, or void. Contract section 11. */
export function resourceOf(round: Pick<RoundState, 'id'>, { transactionId }: { transactionId: string }) {
  return { round_id: round.id, transaction_id: transactionId }
}
