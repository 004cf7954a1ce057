import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallFailure } from '@pitboss/bus/call-failure'
import { listPublicKeys, resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import { routeTable } from '../routes/route-table.ts'

/**
 * Pauses before repeats. A dead service is started again within a second and needs about as long to answer.
 */
const pausesMs = [250, 500, 1000, 1500] as const

/** Calls that change nothing: those of GET routes, and the look-ups behind every token. */
const reads: ReadonlySet<string> = new Set([
  resolvePrincipal.subject,
  listPublicKeys.subject,
  ...routeTable.flatMap(({ method, action }) =>
    method === 'GET' && action.kind === 'forward' ? [action.call.subject] : [],
  ),
])

/**
 * Wraps a bus. A call that found no responder is made again, up to four times and within its own budget, so
 * that the restart of a replica is no client's error. Only calls that certainly did not start are repeated:
 * any call without responders, and reads while NATS is away. A read whose callee died is asked once more.
 * Any other call without an answer is never repeated. Source: ours.
 */
export function repeatUnstarted(bus: Bus): Bus {
  return {
    ...bus,
    async call(call, request, context) {
      const deadlineAtMs = Math.min(Date.now() + call.budgetMs, context?.deadlineAtMs ?? Infinity)
      const ask = () =>
        bus.call(call, request, context === undefined ? undefined : { ...context, deadlineAtMs })
      const once = () =>
        ask().catch((error: unknown) => {
          if (!isLostRead(error, call.subject) || Date.now() >= deadlineAtMs) throw error
          return ask()
        })
      for (const pauseMs of pausesMs) {
        try {
          return await once()
        } catch (error) {
          if (!mayRepeat(error, call.subject) || Date.now() + pauseMs >= deadlineAtMs) throw error
          await delay(pauseMs)
        }
      }
      return once()
    },
  }
}

function mayRepeat(error: unknown, subject: string): boolean {
  if (!(error instanceof ServiceError)) return false
  const repeated: CallFailure[] = reads.has(subject) ? ['no-responders', 'disconnected'] : ['no-responders']
  return repeated.some((failure) => error.cause === failure)
}

function isLostRead(error: unknown, subject: string): boolean {
  const lost: CallFailure = 'lost'
  return error instanceof ServiceError && error.cause === lost && reads.has(subject)
}
