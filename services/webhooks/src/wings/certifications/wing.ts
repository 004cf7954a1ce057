import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { summaryOf } from '@pitboss/contracts/certification/progress'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { openCertifications } from '@pitboss/storage/certification-jobs'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { jobIndexes } from '@pitboss/storage/job-store'
import { answerPage } from '@pitboss/storage/read-page'
import { findEndpoint } from '../../actions/read-endpoints.ts'
import type { Wing } from '../../context.ts'
import * as actions from './actions/run-certification.ts'

/** A burst of a certification opens 50 connections; more orders wait their turn. */
const placesMax = 4

/** Certifications of TEST receivers. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { clockAheadMs, post }) {
    const jobs = openCertifications<actions.CertificationDocument>(core.db, {
      ...{ ...core, of: ' of this endpoint', summary: presentSummary, placesMax, clockAheadMs },
    })
    const context = { ...core, post, certifications: jobs }
    return {
      calls: certificationCalls(context),
      start: () => jobs.start((held) => actions.runCertification(context, held)),
    }
  },
}

function certificationCalls(c: actions.CertificationContext): CallHandler[] {
  const { certifications } = c
  const find = async (request: Parameters<typeof findEndpoint>[1], id: string) => {
    const endpoint = await findEndpoint(c, request)
    return certifications.find([endpoint], id, endpoint._id)
  }
  return [
    handler(endpoints.certifyWebhook.call, async (request, call) => {
      const [endpoint, by] = [await findEndpoint(c, request), actedBy(request.caller, call)]
      return answer(presentCertification(await actions.startCertification(c, endpoint, by)), 202)
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
function presentSummary(job: Omit<actions.CertificationDocument, 'cases'>) {
  return { ...summaryOf(job), webhook_id: job.subject }
}

function presentCertification(job: actions.CertificationDocument) {
  return { ...presentSummary(job), cases: [...job.cases] }
}
