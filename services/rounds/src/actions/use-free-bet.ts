import type { Scope } from '@pitboss/contracts/caller'
import { invalidField, type ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { PlayContext } from '../context.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import { applyMessage } from './change-round.ts'

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
 * Takes a free bet of the round's grant. The grant may have been used up, or cancelled, since it was chosen:
 * then there is no round. The grant gives every later request for this round the same answer, so first
 * request, repeats and sweeper agree. An intent that another worker has touched is ended by the sweeper.
 * @throws ServiceError VALIDATION_ERROR when the grant is used up and the intent was touched
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
