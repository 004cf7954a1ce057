import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { together } from '@pitboss/runtime/together'
import type { PlayContext } from '../context.ts'
import type { Shown } from '../clients/wallet.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import { hasMovement, type RoundState } from '../rules/round.ts'
import { scopeOf } from '../storage/round-document.ts'

const pollFirstMs = 15
const pollLastMs = 200
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
  transactionId: string,
  call: HandlerContext,
): Promise<Shown> {
  const { polls, looks, seen } = context.memory
  const key = `${round.id} ${transactionId}`
  if (call.atOnce === true) {
    return seen.get(key) ?? together(looks, key, () => poll(context, round, transactionId, call))
  }
  return together(polls, key, () =>
    poll(context, round, transactionId, call, (shown) => seen.set(key, shown)).finally(() =>
      seen.delete(key),
    ),
  )
}

async function poll(
  context: PlayContext,
  round: RoundState,
  transactionId: string,
  call: HandlerContext,
  note: (shown: Shown) => unknown = () => undefined,
): Promise<Shown> {
  const scope: Scope = scopeOf(round)
  const startMs = context.clock.now().getTime()
  for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
    const shown = await context.wallet.show(scope, transactionId, call)
    if (shown !== null && shown.movement.round_id !== round.id) {
      // A primary that has been replaced may still show an intent that was taken back since.
      await context.rounds.confirmPrimary()
      throw (await isIntended(context, round, transactionId))
        ? new ServiceError('TRANSACTION_CONFLICT')
        : takenBack()
    }
    const nowMs = context.clock.now().getTime()
    const isLate = call.atOnce === true || nowMs + pollMs >= call.deadlineAtMs - reserveMs
    if (shown !== null && (shown.answered || isLate)) return shown
    if (shown !== null) note(shown)
    if (shown === null) {
      if (isLate || nowMs - startMs >= intentMs) throw unknownOutcome(resourceOf(round, transactionId))
      if (!(await isIntended(context, round, transactionId))) throw takenBack()
    }
    await context.wait(pollMs)
  }
}

/** Whether the round still has the movement: one that was taken back leaves its id to the next request. */
async function isIntended(context: PlayContext, round: RoundState, transactionId: string): Promise<boolean> {
  const stored = await context.rounds.find(scopeOf(round), round.id)
  return stored !== null && hasMovement(stored.round, transactionId)
}

function takenBack(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}
