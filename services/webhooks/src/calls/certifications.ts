import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import type { CallsContext } from '../context.ts'
import * as certifications from '../actions/keep-certifications.ts'
import { presentCertification, presentCertificationSummary } from '../records/webhook-records.ts'
import { endpointTarget } from './endpoints.ts'

/** Certifications of receivers. Source: docs/contract.md, section 3. */
export function certificationHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(endpoints.certifyWebhook.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const job = await certifications.startCertification(deps, endpointTarget(request), by)
      return answer(presentCertification(job), 202)
    }),
    handler(endpoints.listWebhookCertifications.call, async (request) =>
      answerPage(
        await certifications.listCertifications(deps, endpointTarget(request), request.query),
        presentCertificationSummary,
      ),
    ),
    handler(findWebhookCertification, async ({ caller, certificationId }) => ({
      webhookId: await certifications.certifiedEndpoint(deps, caller.scope, certificationId),
    })),
    handler(endpoints.getWebhookCertification.call, async (request) => {
      const id = request.params.certification_id
      const found = await certifications.findCertification(deps, endpointTarget(request), id)
      return answer(presentCertification(found))
    }),
    handler(endpoints.cancelWebhookCertification.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const id = request.params.certification_id
      const job = await certifications.cancelCertification(deps, endpointTarget(request), id, by)
      return answer(presentCertification(job))
    }),
  ]
}
