import { notStarted, shedByCallee } from '@pitboss/bus/call-failure'
import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Bus } from '@pitboss/bus/connect-bus'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Random } from '@pitboss/chaos/random'
import type { Machine } from './machine.ts'
import type { Timeline } from './timeline.ts'
import type { Faults } from './faults.ts'

export type ModelBus = {
  serve(machine: Machine, handlers: readonly CallHandler[]): void
  /** The bus as one process, or a client from outside, knows it. */
  busOf(caller: Pick<Machine, 'after' | 'now'>): Pick<Bus, 'call'>
}

type Outcome = { readonly bytes: Uint8Array } | { readonly error: unknown }

/**
 * Requests and replies between processes: any live process of the service may answer; requests, replies and
 * connections get lost.
 */
export function createModelBus({
  timeline,
  random,
  faults,
}: {
  timeline: Timeline
  random: Random
  faults: Faults
}): ModelBus {
  const served: { machine: Machine; handler: CallHandler }[] = []
  const lost = () => !faults.fair() && random.chance(faults.busLost)

  return {
    serve(machine, handlers) {
      for (const handler of handlers) served.push({ machine, handler })
    },
    busOf: (caller) => ({
      call: (call, request, context) =>
        new Promise((resolve, reject) => {
          const requestId = context?.requestId ?? 'sim'
          // Deadlines travel as instants: each process reads them by its own clock.
          const nowMs = caller.now().getTime()
          const deadlineAtMs = Math.min(context?.deadlineAtMs ?? Infinity, nowMs + call.budgetMs)
          const unavailable = (cause: string) =>
            caller.after(1, () => reject(new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })))
          if (lost()) return unavailable('disconnected')
          let answered = false
          const take = (outcome: Outcome) => {
            if (answered) return
            answered = true
            if ('error' in outcome) reject(asServiceError(outcome.error))
            else resolve(call.reply.parse(JSON.parse(Buffer.from(outcome.bytes).toString('utf8'))))
          }
          caller.after(deadlineAtMs - nowMs, () => {
            if (answered) return
            answered = true
            reject(new ServiceError('SERVICE_UNAVAILABLE', { cause: 'timeout' }))
          })
          timeline.after(random.between(1, 3), () => {
            const able = served.filter(
              ({ machine, handler }) => machine.isAlive() && handler.subject === call.subject,
            )
            if (able.length === 0) return unavailable('no-responders')
            if (lost()) return
            const { machine, handler } = random.pick(able)
            const reply = (outcome: Outcome) => {
              if (machine.isAlive() && !lost()) caller.after(random.between(1, 3), () => take(outcome))
            }
            machine.after(0, () => {
              // As the real one: what is read after its deadline is not begun.
              if (deadlineAtMs <= machine.now().getTime()) return
              if (!handler.neverShed && !faults.fair() && random.chance(faults.shed)) {
                return reply({ error: new ServiceError('SERVICE_UNAVAILABLE', { cause: notStarted }) })
              }
              const bytes = Buffer.from(JSON.stringify(request))
              handler
                .run(bytes, { requestId, deadlineAtMs }, async () => undefined)
                .then(
                  (reply_) => reply({ bytes: reply_ }),
                  (error: unknown) => reply({ error }),
                )
            })
          })
        }),
    }),
  }
}

/**
 * Translates errors as the real bus does: an unexpected one is INTERNAL_ERROR, a lost database
 * SERVICE_UNAVAILABLE, and a call that was not begun says so.
 */
function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error.cause === notStarted ? new ServiceError(error.code, { cause: shedByCallee }) : error
  }
  const lost = error instanceof Error && error.message.endsWith('the connection is lost')
  return new ServiceError(lost ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', { cause: error })
}
