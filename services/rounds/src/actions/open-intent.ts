import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { scopeOf } from '@pitboss/contracts/caller'
import { ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Pace, PlayContext } from '../context.ts'
import { newRound, type WantedRound } from '../rules/new-round.ts'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { sequenceKey, type StoredRound } from '../storage/round-document.ts'
import type { LastNonce } from '../storage/round-streams.ts'
import { openRound, refreshMovements } from './change-round.ts'

const triesMax = 8

type IntentRequest = {
  readonly sequence: string
  /** The round opened under this request's id; null for none. @throws ServiceError an earlier refusal */
  readonly findEarlier: () => Promise<StoredRound | null>
  readonly isOwn: (round: RoundState) => boolean
}

export type Plan = {
  readonly last: LastNonce
  /** Makes the round after the last one, or refuses it; called again when its nonce was taken. */
  readonly make: (last: LastNonce) => ReturnType<typeof makeRound>
  /** Holds the player's game starts apart; null where none are. */
  readonly pace?: Pace | null
}

/** `opened`: its stake is this request's to take. `repeat`: an equal request or its id was first. */
type Opened = { readonly kind: 'opened' | 'repeat'; readonly stored: StoredRound }

/**
 * Stores the intent of a new round on the nonce after the last round that is over. Such a round is never
 * removed, and a nonce or a client's id is claimed once: so nonces have no gaps and one id is one round,
 * however requests race. Source: docs/contract.md, section 12, "Rounds and movements". @param plan makes the
 * checks that do not read the player's other rounds @throws ServiceError the refusals of `plan` and `make`;
 * RATE_LIMITED; ROUND_IN_PROGRESS; SERVICE_UNAVAILABLE when others were first each time. Then nothing is stored
 */
export async function openIntent(
  context: PlayContext,
  request: IntentRequest,
  plan: () => Promise<Plan>,
  call: HandlerContext,
): Promise<Opened> {
  const { sequence } = request
  const { last, make, pace = null } = await plan()
  for (let tries = 0; tries < triesMax; tries++) {
    const latest = tries === 0 ? last : await context.rounds.last(sequence)
    if (latest.unfinished) {
      const other = await context.rounds.findUnfinished(sequence)
      if (other !== null && request.isOwn(other.round)) return { kind: 'repeat', stored: other }
      if (other !== null && isUnfinished((await refreshMovements(context, other, call)).round)) {
        const repeat = await holdBack(request, pace)
        if (repeat !== null) return repeat
        throw new ServiceError('ROUND_IN_PROGRESS')
      }
      // The other round is over, or was taken back and has left its nonce.
      continue
    }
    const made = await make(latest)
    if (pace !== null && !(await pace.start(made.round.createdAt))) {
      const repeat = await holdBack(request, pace)
      if (repeat !== null) return repeat
      // The time has come meanwhile.
      continue
    }
    const opened = await openRound(context, made)
    if (opened !== null) {
      await failpoint('rounds.intent-stored')
      return { kind: 'opened', stored: opened }
    }
    const earlier = await request.findEarlier()
    if (earlier !== null) return { kind: 'repeat', stored: earlier }
  }
  throw keepsChanging(sequence)
}

/** Refuses an early game start, unless an equal request was first. @throws ServiceError RATE_LIMITED */
async function holdBack({ findEarlier }: IntentRequest, pace: Pace | null): Promise<Opened | null> {
  const early = (await pace?.early()) ?? null
  if (early === null) return null
  const earlier = await findEarlier()
  if (earlier === null) throw early
  return { kind: 'repeat', stored: earlier }
}

/** Makes a round on the next nonce. @throws ServiceError WALLET_NOT_CONFIGURED; as `chooseGrant` */
export async function makeRound(
  { commitments, wallet, clock, newId, newUuid }: PlayContext,
  last: LastNonce,
  wanted: WantedRound,
  call: HandlerContext,
  chooseGrant: () => Promise<string | null> = async () => null,
) {
  const { session } = wanted
  const sequence = sequenceKey(session, session.game, session.playerId)
  await wallet.assertConfigured(scopeOf(session), call)
  const grantId = await chooseGrant()
  const now = clock.now()
  // A seed that cannot be opened ends the request here, where no money has moved.
  const commitment = commitments.resealed(sequence, await commitments.after(sequence, last, now))
  const round = newRound({ ...wanted, commitment, grantId, now, newId, newUuid })
  const next = commitments.make(sequence, round.nonce + 1, now)
  return { round, committedAt: commitment.createdAt, next }
}

export function keepsChanging(sequence: string): ServiceError {
  return tryAgain(`rounds of ${sequence} kept being opened and taken back`)
}
