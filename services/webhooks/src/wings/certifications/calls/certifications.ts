import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import { endpointTarget } from '../../../calls/endpoints.ts'
import * as actions from '../actions/order-certifications.ts'
import type { CertificationContext } from '../context.ts'
import { presentCertification, presentCertificationSummary } from '../records/present-certification.ts'

/** Certifications of receivers. Source: docs/contract.md, section 3. */
export function certificationCalls(context: CertificationContext): CallHandler[] {
  return [
    handler(endpoints.certifyWebhook.call, async (request, call) => {
      const by = actedBy(request.caller, call)
      const job = await actions.startCertification(context, endpointTarget(request), by)
      return answer(presentCertification(job), 202)
    }),
    handler(endpoints.listWebhookCertifications.call, async (request) =>
      answerPage(
        await actions.listCertifications(context, endpointTarget(request), request.query),
        presentCertificationSummary,
      ),
    ),
    handler(findWebhookCertification, async ({ caller, certificationId }) => ({
      webhookId: await actions.certifiedEndpoint(context, caller.scope, certificationId),
    })),
    handler(endpoints.getWebhookCertification.call, async (request) => {
      const id = request.params.certification_id
      return answer(
        presentCertification(await actions.findCertification(context, endpointTarget(request), id)),
      )
    }),
    handler(endpoints.cancelWebhookCertification.call, async (request, call) => {
      const id = request.params.certification_id
      const job = await actions.findCertification(context, endpointTarget(request), id)
      const by = actedBy(request.caller, call)
      return answer(presentCertification(await context.certifications.cancel(job, by)))
    }),
  ]
}
