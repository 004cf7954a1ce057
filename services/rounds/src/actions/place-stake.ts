import type { CallContext } from '@pitboss/contracts/call'
import { type ServiceError, invalidField } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Scope } from '@pitboss/contracts/caller'
import type { PlayContext, PlayerHold } from '../context.ts'
import type { Placed } from '../clients/wallet.ts'
import { assertDone, resourceOf, stakeSpec, unknownOutcome } from '../rules/movement.ts'
import type { Stake } from '../rules/round.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import { applyMovement, withdrawIntent, applyMessage } from './change-round.ts'

/** `taken-back`: the intent is gone again, its round with it if this was its first stake. */
export type PlacedStake =
  | { readonly kind: 'placed'; readonly stored: StoredRound; readonly placed: Placed }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

/**
 * Asks wallet-bridge for a stake whose intent is stored, and gives the round the answer. Only the request
 * that stored the intent does this: so an intent that was certainly not written can be taken back whole, and
 * its nonce serves the next round: "a refusal before the wallet is asked leaves no round" (docs/contract.md,
 * section 11). One that stays has an unknown outcome: "a definite answer is true for ever" (section 12).
 * @param hold the limits of the player; null for none @throws ServiceError the wallet's refusal;
 * WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the outcome is unknown
 */
export async function placeStake(
  context: PlayContext,
  stored: StoredRound,
  transactionId: string,
  call: CallContext,
  hold: PlayerHold | null,
): Promise<PlacedStake> {
  const { round } = stored
  const stake = round.stakes.find((one) => one.transactionId === transactionId)
  if (stake === undefined) throw new Error(`round ${round.id} lost its stake ${transactionId}`)
  const resource = resourceOf(round, transactionId)
  // What limits count has to be in the lists: a charge whose round is not there was never asked for.
  if (hold !== null) await context.rounds.show(round.id)
  const refused = (await hold?.charge(round, stake)) ?? null
  if (refused !== null) {
    if (await takeBack(context, stored, stake)) return { kind: 'taken-back', error: refused }
    throw unknownOutcome(resource, refused)
  }
  const placement = await context.wallet.place(scopeOf(round), { spec: stakeSpec(round, stake) }, call)
  await failpoint('rounds.stake-placed')
  if (placement.kind === 'not-written' && (await takeBack(context, stored, stake))) {
    return { kind: 'taken-back', error: placement.error }
  }
  if (placement.kind !== 'placed') throw unknownOutcome(resource, placement.error)
  const { placed } = placement
  const learned = await applyMovement(context, stored, placed.movement, placed.outcome)
  assertDone(placed.outcome, resource, round.clientTransactionId !== null)
  return { kind: 'placed', stored: learned, placed }
}

/** False when another worker may have placed the stake meanwhile. */
async function takeBack(context: PlayContext, stored: StoredRound, stake: Stake): Promise<boolean> {
  if (stored.round.status !== 'PENDING') {
    return withdrawIntent(context, stored, stake.transactionId)
  }
  const removed = await context.rounds.remove(stored)
  if (!removed) context.logger.warn({ round_id: stored.round.id }, 'intent.left-to-sweeper')
  return removed
}

/** `taken-back`: neither the stake nor a free bet was taken, and the round is gone. */
export type Started =
  | { readonly kind: 'started'; readonly stored: StoredRound }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

/** Chooses the player's oldest grant with this stake. @throws ServiceError VALIDATION_ERROR for none */
export async function chooseGrant(
  { grants, clock }: PlayContext,
  scope: Scope,
  { playerId, game, currency }: { playerId: string; game: string; currency: string },
  stake: bigint,
): Promise<string> {
  const open = await grants.open(scope, { playerId, game, currency }, clock.now())
  if (open.length === 0) throw noFreeBet()
  const fitting = open.find((grant) => BigInt(grant.stake) === stake)
  if (fitting === undefined) throw invalidField('stake', "must equal the free bet's stake")
  return fitting._id
}

/**
 * Takes a free bet of the round's grant, which may have been used up or cancelled since: then there is no
 * round. The grant answers each request for this round the same, so request, repeats and sweeper agree. An
 * intent that another worker has touched is ended by the sweeper. @throws ServiceError VALIDATION_ERROR then
 */
export async function takeGrant(context: PlayContext, stored: StoredRound): Promise<Started> {
  const { rounds, grants, clock } = context
  const { round } = stored
  const used = await grants.use(scopeOf(round), round.grantId ?? '', round.id, clock.now())
  await failpoint('rounds.grant-used')
  if (used) return { kind: 'started', stored: await applyMessage(context, stored, { type: 'grant-used' }) }
  if (await rounds.remove(stored)) return { kind: 'taken-back', error: noFreeBet() }
  throw noFreeBet()
}

export function noFreeBet(): ServiceError {
  return invalidField('free_bet', 'there is no free bet for this player and game')
}
