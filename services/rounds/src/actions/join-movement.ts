import { setTimeout as delay } from 'node:timers/promises'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { together } from '@pitboss/runtime/together'
import type { Shown } from '../clients/wallet.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import { hasMovement, type RoundState } from '../rules/round.ts'
import { scopeOf } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

const pollFirstMs = 15
const pollLastMs = 200
/** Time after which the first request counts as dead when its intent still has no movement. */
const intentMs = 2000
/** Kept for the answer's way back. */
const reserveMs = 500

export type JoinMovement = (
  round: RoundState,
  transactionId: string,
  context: HandlerContext,
) => Promise<Shown>

/**
 * Waits with a repeated request until the first try of the movement has ended: "a caller's retry joins the
 * same record" (docs/contract.md, section 5). Repeats of one movement wait together, for as long as the first
 * of them may. Shortly before its deadline, and at once beyond the places of the account, the answer is the
 * movement as it stands: as those who wait saw it last, else as one look for all who come together finds it.
 * @throws ServiceError WALLET_TIMEOUT for an intent whose movement does not come, SERVICE_UNAVAILABLE for an
 * intent that was taken back, TRANSACTION_CONFLICT when the id is that of another round's movement
 */
export function createJoinMovement({
  wallet,
  rounds,
  clock,
  wait = delay,
}: Pick<Parts, 'clock'> & {
  wallet: Pick<Parts['wallet'], 'show'>
  rounds: Pick<Parts['rounds'], 'find' | 'confirmPrimary'>
  /** A simulation waits in a time of its own. */
  wait?: (ms: number) => Promise<unknown>
}): JoinMovement {
  /** Whether the round still has the movement: one that was taken back leaves its id to the next request. */
  async function isIntended(round: RoundState, transactionId: string): Promise<boolean> {
    const stored = await rounds.find(scopeOf(round), round.id)
    return stored !== null && hasMovement(stored.round, transactionId)
  }

  const polls = new Map<string, Promise<Shown>>()
  const looks = new Map<string, Promise<Shown>>()
  /** What the polls that run saw last. */
  const seen = new Map<string, Shown>()

  return async function joinMovement(round, transactionId, context) {
    const key = `${round.id} ${transactionId}`
    if (context.atOnce === true) {
      return seen.get(key) ?? together(looks, key, () => poll(round, transactionId, context))
    }
    return together(polls, key, () =>
      poll(round, transactionId, context, (shown) => seen.set(key, shown)).finally(() => seen.delete(key)),
    )
  }

  async function poll(
    round: RoundState,
    transactionId: string,
    context: HandlerContext,
    note: (shown: Shown) => unknown = () => undefined,
  ): Promise<Shown> {
    const scope: Scope = scopeOf(round)
    const startMs = clock.now().getTime()
    for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
      const shown = await wallet.show(scope, transactionId, context)
      if (shown !== null && shown.movement.round_id !== round.id) {
        // A primary that has been replaced may still show an intent that was taken back since.
        await rounds.confirmPrimary()
        throw (await isIntended(round, transactionId))
          ? new ServiceError('TRANSACTION_CONFLICT')
          : takenBack()
      }
      const nowMs = clock.now().getTime()
      const isLate = context.atOnce === true || nowMs + pollMs >= context.deadlineAtMs - reserveMs
      if (shown !== null && (shown.answered || isLate)) return shown
      if (shown !== null) note(shown)
      if (shown === null) {
        if (isLate || nowMs - startMs >= intentMs) throw unknownOutcome(resourceOf(round, transactionId))
        if (!(await isIntended(round, transactionId))) throw takenBack()
      }
      await wait(pollMs)
    }
  }
}

function takenBack(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}
