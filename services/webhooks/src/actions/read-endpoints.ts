import { type Caller, lookupScopes, type Scope, scopeOf } from '@pitboss/contracts/caller'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { EndpointDocument } from '../storage/collections.ts'
import type { WebhooksContext } from '../context.ts'
import { durationBoundsMs, firstDelayBoundsMs } from '@pitboss/contracts/objects/series'
import { type FigureFact, storedFacts } from '@pitboss/storage/fold-figures'
import { readSeries, type SeriesQuery } from '@pitboss/storage/read-series'
import { countsOfAttempt, endpointPointOf } from '../rules/attempt-figures.ts'

type Lists = Pick<WebhooksContext, 'endpoints' | 'cursors'>
type OfEndpoint = { readonly caller: Caller; readonly params: { readonly webhook_id: string } }

/** Finds the endpoint of a request. @throws ServiceError NOT_FOUND for an unknown, foreign or deleted one */
export function findEndpoint({ endpoints }: WebhooksContext, { caller, params }: OfEndpoint) {
  return findInScopes(lookupScopes(caller), (scope) => endpoints.find(scope, params.webhook_id))
}

export function listEndpoints({ endpoints, cursors }: Lists, scope: Scope, query: PageQuery) {
  return readPage({
    ...{ cursors, binding: ['webhooks', scope.operatorId, scope.environment], query },
    read: (before, limit) => endpoints.list(scope, before, limit),
    positionOf: ({ _id }) => _id,
  })
}

/** The attempts that figures count: those of events, since tests show nothing of an endpoint's health. */
export async function* readAttempts(
  { history }: { readonly history: Pick<WebhooksContext['history'], 'attemptedSince'> },
  from: Date,
): AsyncGenerator<FigureFact> {
  for await (const delivery of history.attemptedSince(from)) {
    const { webhookId: subject, createdAt, attempts, eventType } = delivery
    if (eventType === 'webhook.test') continue
    const of = { scope: scopeOf(delivery), subject }
    yield* storedFacts(of, attempts, (attempt) => countsOfAttempt(attempt, createdAt))
  }
}

/** @throws ServiceError VALIDATION_ERROR as `seriesWindow` does */
export async function readAttemptSeries(c: WebhooksContext, endpoint: EndpointDocument, query: SeriesQuery) {
  const { _id } = endpoint
  const target = { scope: scopeOf(endpoint), subject: _id }
  const series = await readSeries({ ...c, target, query, pointOf: endpointPointOf })
  const bounds = { duration_bounds_ms: [...durationBoundsMs], first_delay_bounds_ms: [...firstDelayBoundsMs] }
  return { webhook_id: _id, ...series, ...bounds }
}
