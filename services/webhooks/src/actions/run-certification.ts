import { randomUUID } from 'node:crypto'
import type { Post } from '@pitboss/contracts/certification/exchange'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import { recordExchanges } from '@pitboss/contracts/certification/record-exchanges'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { endCertification, runCertificationJob } from '@pitboss/storage/certification-jobs'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import { headerOf, type PostWebhook } from '../clients/post-webhook.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'
import type { WebhooksContext } from '../context.ts'

type CertifyContext = WebhooksContext & { readonly post: PostWebhook }

const changedText = 'The endpoint was changed meanwhile. Certify it again.'

/**
 * Runs the cases that are left and stores each result. Its posts are no deliveries: they touch neither
 * breaker nor figures. Source: docs/contract.md, section 3.
 */
export async function runCertification(
  c: CertifyContext,
  held: HeldJob<CertificationDocument>,
): Promise<void> {
  const { certifications, clock } = c
  const { job } = held
  const secret = await unchangedSecret(c, job)
  if (secret === null) return endCertification(certifications, job, changedText, clock.now())
  const recorder = recordExchanges(postTo(c, held), secret)
  await runCertificationJob({
    ...{ jobs: certifications, held, cases: receiverCases, recorder, changedText, clock },
    context: createReceiverUnderTest({
      ...{ secret, post: recorder.post, signing: { signBody, signatureTimestamp } },
      ...{ now: () => clock.now(), newUuid: randomUUID },
    }),
    isUnchanged: async () => (await unchangedSecret(c, job)) !== null,
    onKept: () => failpoint('webhooks.certified-case'),
  })
}

/** The endpoint's newest secret; null when it is another, or has another address, than at the order. */
async function unchangedSecret(
  { endpoints, secretCipher }: CertifyContext,
  job: CertificationDocument,
): Promise<string | null> {
  const endpoint = await endpoints.find(job, job.subject)
  const newest = endpoint?.secrets[0]
  if (endpoint === null || newest === undefined || endpoint.url !== job.url) return null
  if (newest.createdAt.getTime() !== job.secretCreatedAt.getTime()) return null
  return secretCipher.decrypt(endpoint, newest)
}

/** The way to the receiver, open as long as the job is held. */
function postTo({ post }: CertifyContext, held: HeldJob<CertificationDocument>): Post {
  const { operatorId: account, url } = held.job
  return async ({ headers, body, timeoutMs }) => {
    if (!held.mayTake(timeoutMs)) throw new Error('the certification goes on elsewhere')
    const answer = await post({ account, url, environment: 'TEST', headers, body })
    const { httpStatus, durationMs: latencyMs, error, remedy, oddities } = answer
    if (httpStatus === null)
      return { kind: 'failure', error: error ?? 'no answer', remedy: remedy ?? '', latencyMs } as const
    const contentType = headerOf(answer, 'content-type') ?? ''
    const excerpt = Buffer.from(answer.excerpt ?? '')
    return { kind: 'answer', httpStatus, contentType, body: excerpt, oddities, latencyMs } as const
  }
}
