import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
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
      const job = await certifications.startCertification(
        deps,
        endpointTarget(request),
        actedBy(request.caller, context),
      )
      return { status: 202, body: presentCertification(job) }
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
    handler(endpoints.getWebhookCertification.call, async (request) => ({
      status: 200,
      body: presentCertification(
        await certifications.findCertification(
          deps,
          endpointTarget(request),
          request.params.certification_id,
        ),
      ),
    })),
    handler(endpoints.cancelWebhookCertification.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const job = await certifications.cancelCertification(
        deps,
        endpointTarget(request),
        request.params.certification_id,
        by,
      )
      return { status: 200, body: presentCertification(job) }
    }),
  ]
}
