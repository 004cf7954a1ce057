import { toAccountMode } from '@pitboss/contracts/primitives'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { inSpan } from '@pitboss/tracing/spans'
import { headerOf, isRedirect, type PostWebhook } from '../clients/post-webhook.ts'
import { retryAfterMs } from '../rules/retry-schedule.ts'
import { computedSignatureHeader, signatureHint } from '../rules/signature-hint.ts'
import { secretsValidAt } from '../rules/signing-secrets.ts'
import type { AttemptRecord, DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { WebhooksContext } from '../context.ts'

export type AttemptOutcome = {
  readonly ok: boolean
  /** The receiver was asked. Else the failure is ours and says nothing about its endpoint. */
  readonly asked: boolean
  readonly gone: boolean
  readonly retryAfterMs: number | null
  readonly at: Date
  readonly record: AttemptRecord
}

type Answer = Awaited<ReturnType<PostWebhook>>
type AttemptContext = Pick<WebhooksContext, 'secretCipher' | 'clock' | 'logger'> & {
  readonly post: PostWebhook
}

const locationCharactersMax = 2048
const userAgent = 'Pitboss-Webhooks/1'

function locationOf(answer: Answer): { location?: string } {
  const location = headerOf(answer, 'location')
  if (location === null || answer.httpStatus === null || !isRedirect(answer.httpStatus)) return {}
  return { location: location.slice(0, locationCharactersMax) }
}

/** Signs and posts. Never rejects for what the receiver does. @param body null if the log lacks the event */
export async function makeAttempt(
  c: AttemptContext,
  endpoint: EndpointDocument,
  delivery: DueDelivery,
  body: string | null,
): Promise<AttemptOutcome> {
  const sentAt = c.clock.now()
  const { attemptCount: attempt } = delivery
  if (body === null) {
    // The event is lost only in a database restored to an earlier day; a rewind brings it back.
    const ids = { webhook_id: endpoint._id, delivery_id: delivery._id, event_id: delivery.eventId }
    c.logger.error(ids, 'delivery.without-event')
    const nothing = { durationMs: null, httpStatus: null, responseExcerpt: null, timings: null, hint: null }
    const record = { attempt, sentAt, error: 'the event is not in the log any more', ...nothing }
    return { ok: false, asked: false, gone: false, retryAfterMs: null, at: sentAt, record }
  }
  const timestamp = signatureTimestamp(sentAt)
  const valid = secretsValidAt(endpoint.secrets, sentAt)
  const secrets = valid.map((secret) => c.secretCipher.decrypt(endpoint, secret))
  const answer = await postTraced(c, endpoint, delivery, {
    ...{ account: endpoint.operatorId, environment: toAccountMode(endpoint.environment) },
    ...{ url: endpoint.url, body },
    headers: {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'x-svc-event-id': delivery.eventId,
      'x-svc-event-type': delivery.eventType,
      'x-svc-timestamp': timestamp,
      'x-svc-signature': secrets.map((secret) => `v1=${signBody(secret, timestamp, body)}`).join(' '),
      'x-svc-delivery-attempt': String(attempt),
    },
  })
  const at = c.clock.now()
  const { httpStatus, durationMs, error, timings } = answer
  return {
    ...{ ok: answer.ok, asked: true, gone: httpStatus === 410, at },
    retryAfterMs: retryAfterMs(httpStatus ?? 0, headerOf(answer, 'retry-after'), at),
    record: {
      ...{ attempt, sentAt, durationMs, httpStatus, error, timings, responseExcerpt: answer.excerpt },
      ...{ url: endpoint.url, ...locationOf(answer) },
      hint: hintFor(c, endpoint, answer, { body, timestamp, secrets, sentAt }),
    },
  }
}

function postTraced(
  { post }: AttemptContext,
  endpoint: EndpointDocument,
  delivery: DueDelivery,
  request: Parameters<PostWebhook>[0],
) {
  const attributes = {
    'pitboss.operator_id': endpoint.operatorId,
    'pitboss.environment': endpoint.environment,
    'pitboss.webhook_id': endpoint._id,
    'pitboss.delivery_id': delivery._id,
    'pitboss.event_id': delivery.eventId,
    'pitboss.attempt': delivery.attemptCount,
  }
  const options = { kind: 'client', parent: delivery.traceparent ?? null, attributes } as const
  return inSpan(`deliver ${delivery.eventType}`, options, async (span) => {
    const answer = await post(request)
    if (answer.httpStatus !== null) span.set({ 'http.response.status_code': answer.httpStatus })
    if (!answer.ok) span.fail(answer.error ?? String(answer.httpStatus))
    return answer
  })
}

type Sent = { body: string; timestamp: string; secrets: string[]; sentAt: Date }

/** Names the mistake of a test receiver that refuses and echoes the signature that it computed. */
function hintFor({ secretCipher }: AttemptContext, endpoint: EndpointDocument, answer: Answer, sent: Sent) {
  const status = answer.httpStatus ?? 0
  const computed = headerOf(answer, computedSignatureHeader)
  if (computed === null || endpoint.environment !== 'SANDBOX' || status < 400 || status >= 500) return null
  const valid = secretsValidAt(endpoint.secrets, sent.sentAt)
  const old = endpoint.secrets.filter((secret) => !valid.includes(secret))
  const oldSecrets = old.map((secret) => secretCipher.decrypt(endpoint, secret))
  return signatureHint({ ...sent, computed, oldSecrets })
}
