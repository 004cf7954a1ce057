import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import {
  cancelWebhookCertification,
  certifyWebhook,
  getWebhookCertification,
  listWebhookCertifications,
} from '@pitboss/contracts/endpoints/webhooks'
import { answerPage } from '@pitboss/storage/read-page'
import type { CallsContext } from '../context.ts'
import {
  cancelCertification,
  certifiedEndpoint,
  findCertification,
  listCertifications,
  startCertification,
} from '../actions/keep-certifications.ts'
import { presentCertification, presentCertificationSummary } from '../records/webhook-records.ts'
import { endpointTarget } from './endpoints.ts'

/** Certifications of receivers. Source: docs/contract.md, section 3. */
export function certificationHandlers(deps: CallsContext): CallHandler[] {
  return [
    handler(certifyWebhook.call, async (request, context) => {
      const job = await startCertification(deps, endpointTarget(request), actedBy(request.caller, context))
      return { status: 202, body: presentCertification(job) }
    }),
    handler(listWebhookCertifications.call, async (request) =>
      answerPage(
        await listCertifications(deps, endpointTarget(request), request.query),
        presentCertificationSummary,
      ),
    ),
    handler(findWebhookCertification, async ({ caller, certificationId }) => ({
      webhookId: await certifiedEndpoint(deps, caller.scope, certificationId),
    })),
    handler(getWebhookCertification.call, async (request) => ({
      status: 200,
      body: presentCertification(
        await findCertification(deps, endpointTarget(request), request.params.certification_id),
      ),
    })),
    handler(cancelWebhookCertification.call, async (request, context) => {
      const by = actedBy(request.caller, context)
      const job = await cancelCertification(
        deps,
        endpointTarget(request),
        request.params.certification_id,
        by,
      )
      return { status: 200, body: presentCertification(job) }
    }),
  ]
}
