import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { CallContext } from '@pitboss/contracts/call'
import { scopeOf } from '@pitboss/contracts/caller'
import { invalidField, ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { together } from '@pitboss/runtime/together'
import type { Placed, Shown } from '../clients/wallet.ts'
import type { PlayContext } from '../context.ts'
import { assertDone, resourceOf, stakeSpec, unknownOutcome } from '../rules/movement.ts'
import { hasMovement, type RoundState, type Stake } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import { applyMessage, applyMovement, withdrawIntent } from './change-round.ts'

type TakenBack = { readonly kind: 'taken-back'; readonly error: ServiceError }
/** `taken-back`: the intent is gone again, its round with it if this was its first stake. */
type PlacedStake =
  | { readonly kind: 'placed'; readonly stored: StoredRound; readonly placed: Placed }
  | TakenBack

/**
 * Asks wallet-bridge for a stake whose intent is stored, and gives the round the answer. Only the request
 * that stored the intent does this: so an intent that was certainly not written can be taken back whole, and
 * its nonce serves the next round: "a refusal before the wallet is asked leaves no round" (docs/contract.md,
 * section 11). One that stays has an unknown outcome: "a definite answer is true for ever" (section 12).
 * @throws ServiceError the wallet's refusal; WALLET_TIMEOUT or WALLET_UNAVAILABLE with `resource` while the
 * outcome is unknown
 */
export async function placeStake(
  context: PlayContext,
  stored: StoredRound,
  transactionId: string,
  call: CallContext,
  { limited }: Pick<SessionDocument, 'limited'>,
): Promise<PlacedStake> {
  const { round } = stored
  const stake = round.stakes.find((one) => one.transactionId === transactionId)
  if (stake === undefined) throw new Error(`round ${round.id} lost its stake ${transactionId}`)
  const resource = resourceOf(round, transactionId)
  // What limits count has to be in the lists: a charge whose round is not there was never asked for.
  if (limited === true) await context.rounds.show(round.id)
  const refused = limited === true ? await context.hooks.chargeStake(round, stake) : null
  if (refused !== null) {
    if (await takeBack(context, stored, stake)) return { kind: 'taken-back', error: refused }
    throw unknownOutcome(resource, refused)
  }
  const placement = await context.wallet.place(scopeOf(round), { spec: stakeSpec(round, stake) }, call)
  await failpoint('rounds.stake-placed')
  if (placement.kind === 'not-written' && (await takeBack(context, stored, stake)))
    return { kind: 'taken-back', error: placement.error }
  if (placement.kind !== 'placed') throw unknownOutcome(resource, placement.error)
  const { placed } = placement
  const learned = await applyMovement(context, stored, placed)
  assertDone(placed.outcome, resource, round.clientTransactionId !== null)
  return { kind: 'placed', stored: learned, placed }
}

/** False when another worker may have placed the stake meanwhile. */
async function takeBack(context: PlayContext, stored: StoredRound, stake: Stake): Promise<boolean> {
  if (stored.round.status !== 'PENDING') return withdrawIntent(context, stored, stake.transactionId)
  const removed = await context.rounds.remove(stored)
  if (!removed) context.logger.warn({ round_id: stored.round.id }, 'intent.left-to-sweeper')
  return removed
}

/** `taken-back`: neither the stake nor a free bet was taken, and the round is gone. */
export type Started = { readonly kind: 'placed'; readonly stored: StoredRound } | TakenBack

/** Chooses the player's oldest grant with this stake. @throws ServiceError VALIDATION_ERROR for none */
export async function chooseGrant({ grants, clock }: PlayContext, session: SessionDocument, stake: bigint) {
  const { playerId, game, currency } = session
  const open = await grants.open(scopeOf(session), { playerId, game, currency }, clock.now())
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
  if (used) return { kind: 'placed', stored: await applyMessage(context, stored, { type: 'grant-used' }) }
  if (await rounds.remove(stored)) return { kind: 'taken-back', error: noFreeBet() }
  throw noFreeBet()
}

export function noFreeBet(): ServiceError {
  return invalidField('free_bet', 'there is no free bet for this player and game')
}

export const [pollFirstMs, pollLastMs] = [15, 200]
/** Time after which the first request counts as dead when its intent still has no movement. */
const intentMs = 2000
/** Kept for the answer's way back. */
const reserveMs = 500

/**
 * Waits with a repeated request until the first try of the movement has ended: "a caller's retry joins the
 * same record" (docs/contract.md, section 5). Repeats wait together, for as long as the first may. Shortly
 * before its deadline, and at once beyond the account's places, the answer is the movement as it stands.
 * @throws ServiceError WALLET_TIMEOUT for an intent without a movement, SERVICE_UNAVAILABLE for one that was
 * taken back, TRANSACTION_CONFLICT for the id of another round's movement
 */
export async function awaitMovement(
  context: PlayContext,
  round: RoundState,
  id: string,
  call: HandlerContext,
): Promise<Shown> {
  const { polls, looks, seen } = context.memory
  const key = `${round.id} ${id}`
  if (call.atOnce === true) return seen.get(key) ?? together(looks, key, () => poll(context, round, id, call))
  const note = (shown: Shown) => seen.set(key, shown)
  return together(polls, key, () => poll(context, round, id, call, note).finally(() => seen.delete(key)))
}

async function poll(
  context: PlayContext,
  round: RoundState,
  transactionId: string,
  call: HandlerContext,
  note: (shown: Shown) => unknown = () => undefined,
): Promise<Shown> {
  const startMs = context.clock.now().getTime()
  for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
    const shown = await context.wallet.show(scopeOf(round), transactionId, call)
    if (shown !== null && shown.movement.round_id !== round.id) {
      // A primary that has been replaced may still show an intent that was taken back since.
      await context.rounds.confirmPrimary()
      const isOurs = await isIntended(context, round, transactionId)
      throw isOurs ? new ServiceError('TRANSACTION_CONFLICT') : tryAgain()
    }
    const nowMs = context.clock.now().getTime()
    const isLate = call.atOnce === true || nowMs + pollMs >= call.deadlineAtMs - reserveMs
    if (shown !== null && (shown.answered || isLate)) return shown
    if (shown !== null) note(shown)
    else {
      if (isLate || nowMs - startMs >= intentMs) throw unknownOutcome(resourceOf(round, transactionId))
      if (!(await isIntended(context, round, transactionId))) throw tryAgain()
    }
    await context.wait(pollMs)
  }
}

/** Whether the round still has the movement: one that was taken back leaves its id to the next request. */
async function isIntended(context: PlayContext, round: RoundState, transactionId: string): Promise<boolean> {
  const stored = await context.rounds.find(scopeOf(round), round.id)
  return stored !== null && hasMovement(stored.round, transactionId)
}
