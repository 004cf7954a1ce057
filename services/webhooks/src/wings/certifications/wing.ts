import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import type { Exchanged, ExchangeRequest } from '@pitboss/contracts/certification/exchange'
import { summaryOf } from '@pitboss/contracts/certification/progress'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { createReceiverUnderTest } from '@pitboss/contracts/certification/receiver/receiver-under-test'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { conflict } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import * as certificationJobs from '@pitboss/storage/certification-jobs'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { jobIndexes } from '@pitboss/storage/job-store'
import type { Jobs } from '@pitboss/storage/jobs'
import { answerPage } from '@pitboss/storage/read-page'
import type { HeldJob } from '@pitboss/storage/start-job-workers'
import { findEndpoint } from '../../actions/read-endpoints.ts'
import { headerOf, type PostWebhook } from '../../clients/post-webhook.ts'
import type { WebhooksContext, Wing } from '../../context.ts'
import type { EndpointDocument } from '../../storage/collections.ts'

/** A burst of a certification opens 50 connections; more orders wait their turn. */
const placesMax = 4

/** Certifications of TEST receivers. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { clockAheadMs, post }) {
    const jobs = certificationJobs.openCertifications<CertificationDocument>(core.db, {
      ...{ ...core, of: ' of this endpoint', summary: presentSummary, placesMax, clockAheadMs },
    })
    const context = { ...core, post, certifications: jobs }
    const calls = certificationCalls(context)
    return { calls, start: () => jobs.start((held) => runCertification(context, held)) }
  },
}

function certificationCalls(c: CertificationContext): CallHandler[] {
  const { certifications } = c
  const find = async (request: Parameters<typeof findEndpoint>[1], id: string) => {
    const endpoint = await findEndpoint(c, request)
    return certifications.find([endpoint], id, endpoint._id)
  }
  return [
    handler(endpoints.certifyWebhook.call, async (request, call) => {
      const [endpoint, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      return answer(presentCertification(await startCertification(c, endpoint, by)), 202)
    }),
    handler(endpoints.listWebhookCertifications.call, async (request) => {
      const endpoint = await findEndpoint(c, request)
      return answerPage(await certifications.list(endpoint, endpoint._id, request.query), presentSummary)
    }),
    handler(findWebhookCertification, async ({ caller: { scope }, certificationId }) => {
      const { subject } = await certifications.find([scope], certificationId)
      const endpoint = await findInScopes([scope], (one) => c.endpoints.find(one, subject))
      return { webhookId: endpoint._id }
    }),
    handler(endpoints.getWebhookCertification.call, async (request) =>
      answer(presentCertification(await find(request, request.params.certification_id))),
    ),
    handler(endpoints.cancelWebhookCertification.call, async (request, call) => {
      const job = await find(request, request.params.certification_id)
      return answer(presentCertification(await certifications.cancel(job, actedBy(request.caller, call))))
    }),
  ]
}

/** The public records of a certification. Source: docs/contract.md, section 3. */
function presentSummary(job: Omit<CertificationDocument, 'cases'>) {
  return { ...summaryOf(job), webhook_id: job.subject }
}

function presentCertification(job: CertificationDocument) {
  return { ...presentSummary(job), cases: [...job.cases] }
}

/** A certification of a TEST endpoint's receiver; `subject` is the endpoint's id. */
export type CertificationDocument = certificationJobs.CertificationJob & {
  /** When the newest secret was made: another one by now is not the one that was asked about. */
  readonly secretCreatedAt: Date
}

type CertificationContext = WebhooksContext & {
  readonly post: PostWebhook
  readonly certifications: Jobs<CertificationDocument, 'cases'>
}

/** Orders a certification. @throws ServiceError CONFLICT for a LIVE endpoint, and while one runs */
async function startCertification(c: CertificationContext, endpoint: EndpointDocument, by: ActedBy) {
  const { environment, _id: subject, url } = endpoint
  if (environment !== 'SANDBOX') {
    const message = 'Events that were made up are not sent to a LIVE endpoint: its receiver would count them.'
    throw conflict(message)
  }
  const job: CertificationDocument = {
    ...certificationJobs.newCertification({
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
function runCertification(c: CertificationContext, held: HeldJob<CertificationDocument>) {
  return certificationJobs.runCertificationJob({
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
