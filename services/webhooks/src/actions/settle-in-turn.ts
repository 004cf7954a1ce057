import type { Logger } from 'pino'
import { isAtEase } from '../rules/endpoint-health.ts'
import type { EndpointView } from '../workers/endpoint-view.ts'
import type { SettleAttempt, Settled } from './settle-attempt.ts'
import { createSignal } from '@pitboss/runtime/signal'

const triesMax = 6
const retryMs = 100

type Attempt = Parameters<SettleAttempt>[0]

/** Settles the results of one endpoint: those that change its health one after another, since they would only lose to each other. */
export function createSettleInTurn({
  settleAttempt,
  view,
  logger,
  lastSuccessAt,
}: {
  settleAttempt: SettleAttempt
  view: EndpointView
  logger: Logger
  lastSuccessAt: () => Date | null
}): (result: Pick<Attempt, 'delivery' | 'outcome' | 'probe' | 'onWriting'>) => Promise<Settled> {
  let healthTurn: Promise<unknown> = Promise.resolve()

  /** The receiver has been asked; a database that is away for a moment must not make us ask again. */
  async function settleStubbornly(attempt: () => Attempt): Promise<Settled> {
    for (let tried = 1; ; tried++) {
      try {
        return await settleAttempt(attempt())
      } catch (err) {
        if (tried >= triesMax) throw err
        logger.warn({ err, delivery_id: attempt().delivery._id }, 'delivery.not-settled')
        await createSignal().wait(retryMs * 2 ** tried)
      }
    }
  }

  return async (result) => {
    const settle = async () => {
      const settled = await settleStubbornly(() => ({
        ...result,
        atEase: isAtEase(view.endpoint().health),
        lastSuccessAt: lastSuccessAt(),
      }))
      if (settled.endpoint !== null) view.changed(settled.endpoint)
      return settled
    }
    if (result.outcome.ok && isAtEase(view.endpoint().health)) return settle()
    const settled = healthTurn.then(settle)
    healthTurn = settled.catch(() => undefined)
    return settled
  }
}
