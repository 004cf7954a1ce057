import type { ActedBy } from '@pitboss/contracts/audit'
import type { Exchanged, ExchangeRequest } from '@pitboss/contracts/certification/exchange'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import * as jobs from '@pitboss/storage/certification-jobs'
import type { Jobs } from '@pitboss/storage/jobs'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import { headerOf, type PostWebhook } from '../../../clients/post-webhook.ts'
import type { WebhooksContext } from '../../../context.ts'
import type { EndpointDocument } from '../../../storage/collections.ts'

/** A certification of a TEST endpoint's receiver; `subject` is the endpoint's id. */
export type CertificationDocument = jobs.CertificationJob & {
  /** When the newest secret was made: another one by now is not the one that was asked about. */
  readonly secretCreatedAt: Date
}

export type CertificationContext = WebhooksContext & {
  readonly post: PostWebhook
  readonly certifications: Jobs<CertificationDocument, 'cases'>
}

/** Orders a certification. @throws ServiceError CONFLICT for a LIVE endpoint, and while one runs */
export async function startCertification(c: CertificationContext, endpoint: EndpointDocument, by: ActedBy) {
  const { environment, _id: subject, url } = endpoint
  if (environment !== 'SANDBOX') {
    const message = 'Events that were made up are not sent to a LIVE endpoint: its receiver would count them.'
    throw new ServiceError('CONFLICT', { message })
  }
  const job: CertificationDocument = {
    ...jobs.newCertification({
      ...{ id: c.newId('crt'), scope: endpoint, subject },
      ...{ url, casesTotal: receiverCases.length, now: c.clock.now() },
    }),
    secretCreatedAt: endpoint.secrets[0]?.createdAt ?? endpoint.createdAt,
  }
  const object = { type: 'endpoint', id: subject }
  return c.certifications.order(job, by, { act: 'endpoint.certify', object })
}

const changedText = 'The endpoint was changed meanwhile. Certify it again.'

/** Runs the cases that are left. Its posts are no deliveries: they touch neither breaker nor figures. */
export function runCertification(c: CertificationContext, held: HeldJob<CertificationDocument>) {
  return jobs.runCertificationJob({
    ...{ jobs: c.certifications.store, held, cases: receiverCases, changedText, clock: c.clock },
    find: () => unchangedSecret(c, held.job),
    send: (_secret, request) => send(c, held.job, request),
    peerOf: ({ secret }, edges) =>
      createReceiverUnderTest({ ...edges, secret, signing: { signBody, signatureTimestamp } }),
    onKept: () => failpoint('webhooks.certified-case'),
  })
}

/** The endpoint's newest secret; null when it is another, or has another address, than at the order. */
async function unchangedSecret(c: CertificationContext, job: CertificationDocument) {
  const endpoint = await c.endpoints.find(job, job.subject)
  const newest = endpoint?.secrets[0]
  if (endpoint === null || newest === undefined || endpoint.url !== job.url) return null
  if (newest.createdAt.getTime() !== job.secretCreatedAt.getTime()) return null
  return { secret: c.secretCipher.decrypt(endpoint, newest) }
}

async function send(
  { post }: CertificationContext,
  { operatorId: account, url }: CertificationDocument,
  { headers, body }: ExchangeRequest,
): Promise<Exchanged> {
  const answer = await post({ account, url, environment: 'TEST', headers, body })
  const { httpStatus, durationMs: latencyMs, error, remedy, oddities } = answer
  if (httpStatus === null)
    return { kind: 'failure', error: error ?? 'no answer', remedy: remedy ?? '', latencyMs }
  const contentType = headerOf(answer, 'content-type') ?? ''
  const excerpt = Buffer.from(answer.excerpt ?? '')
  return { kind: 'answer', httpStatus, contentType, body: excerpt, oddities, latencyMs }
}
