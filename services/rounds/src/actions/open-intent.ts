import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { isRefusedBy, refusalError, refusalOf } from '../rules/refusal.ts'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { newRound, type WantedRound } from '../rules/new-round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { LastNonce, RoundsStore } from '../storage/rounds-store.ts'
import type { Pace } from './hold-pace.ts'
import type { Parts } from './parts.ts'
import type { RoundActor } from './round-actor.ts'

/** Tries of one request, when others were first. */
const triesMax = 8

/** A request for a new round, as far as it is compared with others. */
export type IntentRequest = {
  readonly scope: Scope
  readonly sequence: string
  /** The client's own id, under which a repeat finds the round. */
  readonly transactionId: string | null
  readonly requestHash: string
  readonly receivedAt: Date | null
  /** Whether a round was opened by this request or an equal one. */
  readonly isOwn: (round: RoundState) => boolean
}

export type Plan = {
  readonly last: LastNonce
  /** Makes the round with this nonce, or refuses it; called anew when the nonce was taken. */
  readonly make: (nonce: number) => Promise<RoundState>
  /** Holds the player's game starts apart; null where none are. */
  readonly pace?: Pace | null
}

/**
 * `opened`: the round is stored, and its stake is this request's to take. `repeat`: an equal request, or
 * another with its id, was first.
 */
export type Opened = { readonly kind: 'opened' | 'repeat'; readonly stored: StoredRound }

export type OpenIntent = ReturnType<typeof createOpenIntent>

/**
 * Creates the step that stores the intent of a new round, of a player or of the operator, on the nonce after
 * the last round that is over. Such a round is never removed, and the indexes refuse a nonce or a client's id
 * that is taken: so nonces have no gaps and one id is one round, whatever arrives at once. A definite refusal
 * takes the id's place in the same index, so that an equal request which is still under way is refused, too.
 * Source: docs/contract.md, section 12, "Rounds and movements" and "A definite answer is true for ever".
 */
export function createOpenIntent({
  rounds,
  refusals,
  actor,
  clock,
}: {
  rounds: Pick<RoundsStore, 'last' | 'findUnfinished' | 'listByTransaction'>
  actor: Pick<RoundActor, 'open' | 'catchUp'>
} & Pick<Parts, 'refusals' | 'clock'>) {
  return { openIntent, refuse }

  /**
   * Stores the intent of the request.
   * @param plan makes the checks that need no look at the player's other rounds
   * @throws ServiceError the refusals of `plan` and `make`; RATE_LIMITED too early after the player's last
   * game start; ROUND_IN_PROGRESS while another round of the
   * nonce sequence is not over; SERVICE_UNAVAILABLE when others were first each time: nothing is stored then
   */
  async function openIntent(
    request: IntentRequest,
    plan: () => Promise<Plan>,
    context: HandlerContext,
  ): Promise<Opened> {
    try {
      return await open(request, plan, context)
    } catch (error) {
      return refuse(request, error)
    }
  }

  /**
   * Refuses a request that has no round, for good unless `error` is retryable. An equal request may have
   * opened the round since, and used up what this one lacks: then this one is a repeat.
   * @throws `error`, or the refusal of an equal request before this one
   */
  async function refuse(request: IntentRequest, error: unknown): Promise<Opened> {
    const { sequence, transactionId, requestHash } = request
    const refusal =
      transactionId === null ? null : refusalOf(error, { transactionId, requestHash }, clock.now())
    if (refusal === null) throw error
    for (let tries = 0; tries < triesMax; tries++) {
      const sibling = await findSibling(rounds, request)
      if (sibling !== null) return { kind: 'repeat', stored: sibling }
      if (await refusals.insert(sequence, refusal)) throw error
      await assertNotRefused(request)
    }
    throw keepsChanging(sequence)
  }

  /**
   * @throws ServiceError the refusal of an equal request, when this one was under way then. A refusal of
   * other requests is removed, to make room for this one.
   */
  async function assertNotRefused({ sequence, transactionId, ...request }: IntentRequest): Promise<void> {
    const earlier = transactionId === null ? null : await refusals.find(sequence, transactionId)
    if (earlier === null || transactionId === null) return
    if (isRefusedBy(earlier, { transactionId, ...request })) throw refusalError(earlier)
    await refusals.remove(sequence, earlier)
  }

  /**
   * Refuses a request that comes too early after the player's last game start.
   * @returns the round of an equal request that was first; null when it does not come too early
   * @throws ServiceError RATE_LIMITED, and nothing is kept of the request
   */
  async function holdBack(request: IntentRequest, pace: Pace | null): Promise<Opened | null> {
    const early = (await pace?.early()) ?? null
    if (early === null) return null
    const sibling = await findSibling(rounds, request)
    if (sibling === null) throw early
    return { kind: 'repeat', stored: sibling }
  }

  async function open(
    request: IntentRequest,
    plan: () => Promise<Plan>,
    context: HandlerContext,
  ): Promise<Opened> {
    const { sequence } = request
    const { last, make, pace = null } = await plan()
    for (let tries = 0; tries < triesMax; tries++) {
      const { nonce, unfinished } = tries === 0 ? last : await rounds.last(sequence)
      if (unfinished) {
        const other = await rounds.findUnfinished(sequence)
        if (other !== null && request.isOwn(other.round)) return { kind: 'repeat', stored: other }
        if (other !== null && isUnfinished((await actor.catchUp(other, context)).round)) {
          const repeat = await holdBack(request, pace)
          if (repeat !== null) return repeat
          throw new ServiceError('ROUND_IN_PROGRESS')
        }
        // The other round is over, or was taken back and has left its nonce.
        continue
      }
      const round = await make(nonce + 1)
      if (pace !== null && !(await pace.start(round.createdAt))) {
        const repeat = await holdBack(request, pace)
        if (repeat !== null) return repeat
        // The time has come meanwhile.
        continue
      }
      const opened = await actor.open(round)
      if (opened !== null) {
        await failpoint('rounds.intent-stored')
        return { kind: 'opened', stored: opened }
      }
      const sibling = await findSibling(rounds, request)
      if (sibling !== null) return { kind: 'repeat', stored: sibling }
      await assertNotRefused(request)
    }
    throw keepsChanging(sequence)
  }
}

/**
 * Creates the making of a round that is wanted, on a nonce of its sequence: with that nonce's commitment,
 * which is made if there is none, and the free bet to use, if any.
 * @throws ServiceError WALLET_NOT_CONFIGURED; the refusals of `chooseGrant`
 */
export function createMakeRound({
  commitments,
  wallet,
  clock,
  newId,
  newUuid,
}: Pick<Parts, 'commitments' | 'wallet' | 'clock' | 'newId' | 'newUuid'>) {
  return async function makeRound(
    {
      scope,
      sequence,
      nonce,
      configured,
    }: Pick<IntentRequest, 'scope' | 'sequence'> & {
      nonce: number
      /** What the wallet's settings are, where they were asked for before. */
      configured?: ReturnType<Parts['wallet']['assertConfigured']> | undefined
    },
    wanted: WantedRound,
    context: HandlerContext,
    chooseGrant: () => Promise<string | null>,
  ): Promise<RoundState> {
    const { settleLosses } = await (configured ?? wallet.assertConfigured(scope, context))
    const grantId = await chooseGrant()
    const now = clock.now()
    // A seed that cannot be opened ends the request here, where no money has moved.
    const commitment = commitments.resealed(sequence, await commitments.ensure(sequence, nonce, now))
    return newRound({ ...wanted, commitment, grantId, settleLosses, now, newId, newUuid })
  }
}

function keepsChanging(sequence: string): ServiceError {
  const cause = new Error(`rounds of ${sequence} kept being opened and taken back`)
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}

/**
 * The round that has this id; null for none. Of several, of players whose requests came at once or of an
 * earlier release, it is the request's own.
 */
export async function findSibling(
  rounds: Pick<RoundsStore, 'listByTransaction'>,
  { scope, transactionId, isOwn }: Pick<IntentRequest, 'scope' | 'transactionId' | 'isOwn'>,
): Promise<StoredRound | null> {
  if (transactionId === null) return null
  const found = await rounds.listByTransaction(scope, transactionId)
  return found.find(({ round }) => isOwn(round)) ?? found[0] ?? null
}
