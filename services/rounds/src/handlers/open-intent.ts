import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { RoundActor } from '../actors/round-actor.ts'
import { isUnfinished, type RoundState } from '../domain/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { LastNonce, RoundsStore } from '../storage/rounds-store.ts'

/** How often one request begins again because another was first. */
const triesMax = 8

type Request = {
  readonly scope: Scope
  /** The client's own id, under which a repeat finds the round. */
  readonly transactionId: string | null
  /** Whether a round is this very request's. */
  readonly isOwn: (round: RoundState) => boolean
  /** What can be refused without a look at the player's other rounds. */
  readonly plan: () => Promise<Plan>
}

export type Plan = {
  readonly chain: string
  readonly last: LastNonce
  /** The round with this nonce, after everything else that can be refused; anew when the nonce was taken. */
  readonly make: (nonce: number) => Promise<RoundState>
}

/**
 * `opened`: the round is stored, and its stake is this request's to take. `repeat`: an equal request, or
 * another with its id, was first.
 */
export type Opened = { readonly kind: 'opened' | 'repeat'; readonly stored: StoredRound }

export type OpenIntent = ReturnType<typeof createOpenIntent>

/**
 * W: stores the intent of a new round, whoever drives it, on the nonce after the last round that is over.
 * Such a round is never removed, and the indexes refuse a nonce or a client's id that is taken: so nonces
 * have no gaps and one id is one round, whatever arrives at once. Contract section 12, "Rounds and
 * movements".
 */
export function createOpenIntent({
  rounds,
  actor,
}: {
  rounds: Pick<RoundsStore, 'last' | 'findUnfinished' | 'listByTransaction'>
  actor: Pick<RoundActor, 'open' | 'catchUp'>
}) {
  /**
   * @throws ServiceError what `plan` and `make` refuse; ROUND_IN_PROGRESS while another round of the chain is
   * not over; SERVICE_UNAVAILABLE when others were first each time: nothing is stored then.
   */
  return async function openIntent(request: Request, context: HandlerContext): Promise<Opened> {
    try {
      return await open(request, context)
    } catch (error) {
      // An equal request may have opened the round since, and used up what this one lacks.
      const sibling = isDefinite(error) ? await findSibling(rounds, request) : null
      if (sibling === null) throw error
      return { kind: 'repeat', stored: sibling }
    }
  }

  async function open(request: Request, context: HandlerContext): Promise<Opened> {
    const { chain, last, make } = await request.plan()
    for (let tries = 0; tries < triesMax; tries++) {
      const { nonce, unfinished } = tries === 0 ? last : await rounds.last(chain)
      if (unfinished) {
        const other = await rounds.findUnfinished(chain)
        if (other !== null && request.isOwn(other.round)) return { kind: 'repeat', stored: other }
        if (other !== null && isUnfinished((await actor.catchUp(other, context)).round)) {
          throw new ServiceError('ROUND_IN_PROGRESS')
        }
        // It is over, or was taken back and has left its nonce.
        continue
      }
      const opened = await actor.open(await make(nonce + 1))
      if (opened !== null) {
        await failpoint('rounds.intent-stored')
        return { kind: 'opened', stored: opened }
      }
      const sibling = await findSibling(rounds, request)
      if (sibling !== null) return { kind: 'repeat', stored: sibling }
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', {
      retryAfterS: 1,
      cause: new Error(`rounds of ${chain} kept being opened and taken back`),
    })
  }
}

/**
 * The round that has this id: the request's own where there are several (of players whose requests came at
 * once, or left by an earlier release), null for none.
 */
export async function findSibling(
  rounds: Pick<RoundsStore, 'listByTransaction'>,
  { scope, transactionId, isOwn }: Pick<Request, 'scope' | 'transactionId' | 'isOwn'>,
): Promise<StoredRound | null> {
  if (transactionId === null) return null
  const found = await rounds.listByTransaction(scope, transactionId)
  return found.find(({ round }) => isOwn(round)) ?? found[0] ?? null
}

function isDefinite(error: unknown): boolean {
  return error instanceof ServiceError && !error.retryable
}
