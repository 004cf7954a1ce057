import type { Exchanged, ExchangeRequest } from '@pitboss/contracts/certification/exchange'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { runCertificationJob } from '@pitboss/storage/certification-jobs'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import { headerOf } from '../../../clients/post-webhook.ts'
import type { CertificationContext } from '../context.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'

const changedText = 'The endpoint was changed meanwhile. Certify it again.'

/**
 * Runs the cases that are left and stores each result. Its posts are no deliveries: they touch neither
 * breaker nor figures. Source: docs/contract.md, section 3.
 */
export function runCertification(
  context: CertificationContext,
  held: HeldJob<CertificationDocument>,
): Promise<void> {
  const { certifications, clock } = context
  return runCertificationJob({
    ...{ jobs: certifications.store, held, cases: receiverCases, changedText, clock },
    find: () => unchangedSecret(context, held.job),
    send: (_secret, request) => send(context, held.job, request),
    peerOf: ({ secret }, edges) =>
      createReceiverUnderTest({ ...edges, secret, signing: { signBody, signatureTimestamp } }),
    onKept: () => failpoint('webhooks.certified-case'),
  })
}

/** The endpoint's newest secret; null when it is another, or has another address, than at the order. */
async function unchangedSecret(
  { endpoints, secretCipher }: CertificationContext,
  job: CertificationDocument,
): Promise<{ readonly secret: string } | null> {
  const endpoint = await endpoints.find(job, job.subject)
  const newest = endpoint?.secrets[0]
  if (endpoint === null || newest === undefined || endpoint.url !== job.url) return null
  if (newest.createdAt.getTime() !== job.secretCreatedAt.getTime()) return null
  return { secret: secretCipher.decrypt(endpoint, newest) }
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
