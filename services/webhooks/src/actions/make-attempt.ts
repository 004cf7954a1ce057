import { toSetup } from '@pitboss/contracts/environments'
import type { Clock } from '@pitboss/runtime/clock'
import { signatureTimestamp, signBody } from '@pitboss/signing/sign-body'
import type { PostWebhook } from '../clients/post-webhook.ts'
import { retryAfterMs } from '../rules/retry-after.ts'
import { computedSignatureHeader, signatureHint } from '../rules/signature-hint.ts'
import { secretsValidAt } from '../rules/signing-secrets.ts'
import type { AttemptRecord, DeliveryDocument, EndpointDocument } from '../storage/documents.ts'
import type { OpenSecret } from './open-secret.ts'

export type AttemptOutcome = {
  readonly ok: boolean
  /** The receiver was asked; else the failure is ours and says nothing about its endpoint. */
  readonly asked: boolean
  readonly gone: boolean
  readonly retryAfterMs: number | null
  readonly at: Date
  readonly record: AttemptRecord
}

export type MakeAttempt = (
  endpoint: EndpointDocument,
  delivery: Pick<DeliveryDocument, 'eventId' | 'eventType' | 'attemptCount'>,
  body: string,
) => Promise<AttemptOutcome>

const userAgent = 'Pitboss-Webhooks/1'

/** Signs with the secrets valid now and posts. Never rejects for what the receiver does. Source: specification, "Delivery headers". */
export function createMakeAttempt({
  post,
  openSecret,
  clock,
}: {
  post: PostWebhook
  openSecret: OpenSecret
  clock: Clock
}): MakeAttempt {
  return async function makeAttempt(endpoint, delivery, body) {
    const sentAt = clock.now()
    const timestamp = signatureTimestamp(sentAt)
    const secrets = secretsValidAt(endpoint.secrets, sentAt).map((secret) => openSecret(endpoint, secret))
    const answer = await post({
      url: endpoint.url,
      environment: toSetup(endpoint.environment),
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'x-svc-event-id': delivery.eventId,
        'x-svc-event-type': delivery.eventType,
        'x-svc-timestamp': timestamp,
        'x-svc-signature': secrets.map((secret) => `v1=${signBody(secret, timestamp, body)}`).join(' '),
        'x-svc-delivery-attempt': String(delivery.attemptCount),
      },
    })
    const at = clock.now()
    const status = answer.httpStatus ?? 0
    return {
      ok: answer.ok,
      asked: true,
      gone: status === 410,
      retryAfterMs: retryAfterMs(status, answer.headers.get('retry-after') ?? null, at),
      at,
      record: {
        attempt: delivery.attemptCount,
        sentAt,
        durationMs: answer.durationMs,
        httpStatus: answer.httpStatus,
        error: answer.error,
        responseExcerpt: answer.excerpt,
        timings: answer.timings,
        hint: hintFor(endpoint, answer, { body, timestamp, secrets, sentAt }),
      },
    }
  }

  /** Test receivers that refuse and say which signature they expected are told their mistake. */
  function hintFor(
    endpoint: EndpointDocument,
    answer: Awaited<ReturnType<PostWebhook>>,
    sent: { body: string; timestamp: string; secrets: string[]; sentAt: Date },
  ): string | null {
    const status = answer.httpStatus ?? 0
    const computed = answer.headers.get(computedSignatureHeader)
    if (computed === undefined || endpoint.environment !== 'SANDBOX' || status < 400 || status >= 500)
      return null
    const valid = secretsValidAt(endpoint.secrets, sent.sentAt)
    const oldSecrets = endpoint.secrets
      .filter((secret) => !valid.includes(secret))
      .map((secret) => openSecret(endpoint, secret))
    return signatureHint({ ...sent, computed, oldSecrets })
  }
}
