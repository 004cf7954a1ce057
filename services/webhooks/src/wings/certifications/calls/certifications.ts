import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { answerPage } from '@pitboss/storage/read-page'
import { findEndpoint } from '../../../actions/read-endpoints.ts'
import * as actions from '../actions/run-certification.ts'

/** Certifications of receivers. Source: docs/contract.md, section 3. */
export function certificationCalls(c: actions.CertificationContext): CallHandler[] {
  const { certifications } = c
  const { presentCertification, presentSummary } = actions
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
