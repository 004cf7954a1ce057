import { setTimeout as delay } from 'node:timers/promises'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Shown, WalletClient } from '../clients/wallet.ts'
import type { RoundState } from '../rules/round.ts'
import { scopeOf } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { resourceOf } from './place-stake.ts'

const pollFirstMs = 15
const pollLastMs = 200
/** How long an intent may stay without a movement before its asker counts as dead. */
const intentMs = 2000
/** What is left for the way back. */
const reserveMs = 500

export type JoinMovement = (
  round: RoundState,
  transactionId: string,
  context: HandlerContext,
) => Promise<Shown>

/**
 * Waits with a repeated request for what the first one waits for: the end of the movement's first try. Past the deadline the
 * movement is answered as it stands. Contract section 5: "a caller's retry joins the same record".
 * @throws ServiceError WALLET_TIMEOUT for an intent whose movement does not come, SERVICE_UNAVAILABLE for one that was taken back,
 * TRANSACTION_CONFLICT when the id is that of another round's movement.
 */
export function createJoinMovement({
  wallet,
  rounds,
  clock,
  wait = delay,
}: {
  wallet: Pick<WalletClient, 'show'>
  rounds: Pick<RoundsStore, 'find'>
  clock: Clock
  /** How to wait; a simulation has a time of its own. */
  wait?: (ms: number) => Promise<unknown>
}): JoinMovement {
  /** Whether the round still has it: what was taken back leaves the id to whoever comes next. */
  async function isIntended(round: RoundState, transactionId: string): Promise<boolean> {
    const stored = await rounds.find(scopeOf(round), round.id)
    if (stored === null) return false
    const { stakes, wins, reversals } = stored.round
    return [...stakes, ...wins, ...reversals].some((one) => one.transactionId === transactionId)
  }

  return async function joinMovement(round, transactionId, context) {
    const scope: Scope = scopeOf(round)
    const startMs = clock.now().getTime()
    for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
      const shown = await wallet.show(scope, transactionId, context)
      if (shown !== null && shown.movement.round_id !== round.id) {
        throw (await isIntended(round, transactionId))
          ? new ServiceError('TRANSACTION_CONFLICT')
          : takenBack()
      }
      const nowMs = clock.now().getTime()
      const isLate = nowMs + pollMs >= context.deadlineAtMs - reserveMs
      if (shown !== null && (shown.answered || isLate)) return shown
      if (shown === null) {
        if (isLate || nowMs - startMs >= intentMs) {
          throw new ServiceError('WALLET_TIMEOUT', { resource: resourceOf(round, { transactionId }) })
        }
        if (!(await isIntended(round, transactionId))) throw takenBack()
      }
      await wait(pollMs)
    }
  }
}

function takenBack(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}
