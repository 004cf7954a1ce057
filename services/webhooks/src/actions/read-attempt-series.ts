import { durationBoundsMs, firstDelayBoundsMs } from '@pitboss/contracts/objects/series'
import { type FigureFact, storedFacts } from '@pitboss/storage/fold-figures'
import { readSeries, type SeriesQuery } from '@pitboss/storage/read-series'
import { countsOfAttempt, endpointPointOf } from '../rules/attempt-figures.ts'
import type { WebhooksContext } from '../context.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'

/** The attempts that figures count: those of events, since tests show nothing of an endpoint's health. */
export async function* readAttempts(
  { history }: { readonly history: Pick<WebhooksContext['history'], 'attemptedSince'> },
  from: Date,
): AsyncGenerator<FigureFact> {
  for await (const delivery of history.attemptedSince(from)) {
    const { operatorId, environment, webhookId: subject, createdAt, attempts, eventType } = delivery
    if (eventType === 'webhook.test') continue
    const of = { scope: { operatorId, environment }, subject }
    yield* storedFacts(of, attempts, (attempt) => countsOfAttempt(attempt, createdAt))
  }
}

/** @throws ServiceError NOT_FOUND as `findEndpoint` does; VALIDATION_ERROR as `seriesWindow` does */
export async function readAttemptSeries(
  { endpoints, figures, clock }: Pick<WebhooksContext, 'endpoints' | 'figures' | 'clock'>,
  target: EndpointTarget,
  query: SeriesQuery,
) {
  const { _id, operatorId, environment } = await findEndpoint(endpoints, target)
  const found = { scope: { operatorId, environment }, subject: _id }
  const series = await readSeries({ figures, clock, target: found, query, pointOf: endpointPointOf })
  const bounds = { duration_bounds_ms: [...durationBoundsMs], first_delay_bounds_ms: [...firstDelayBoundsMs] }
  return { webhook_id: _id, ...series, ...bounds }
}
