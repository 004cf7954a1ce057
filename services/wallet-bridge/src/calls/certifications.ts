import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { answerPage } from '@pitboss/storage/read-page'
import * as certifications from '../actions/keep-certifications.ts'
import type { WalletContext } from '../context.ts'
import { toCertification, toCertificationSummary } from '../records/render-certification.ts'
import { dashboardScope } from './dashboard-scope.ts'

const notLiveText =
  'There is no certification of a LIVE wallet, for it moves money of a test player. Certify the TEST wallet.'

/** What people ask about certifications of the TEST wallet. Source: docs/contract.md, section 3. */
export function certificationCalls(context: WalletContext): CallHandler[] {
  return [
    handler(endpoints.certifyWallet.call, async ({ caller, params, body }, call) => {
      if (params.environment === 'LIVE') throw new ServiceError('NOT_FOUND', { message: notLiveText })
      const fallback = caller.account.currencies[0] ?? 'USD'
      const scope = dashboardScope(caller, 'TEST')
      const job = await certifications.startCertification(
        context,
        scope,
        body,
        fallback,
        actedBy(caller, call),
      )
      return { status: 202, body: toCertification(job) }
    }),
    handler(endpoints.listWalletCertifications.call, async ({ caller, query }) =>
      answerPage(
        await certifications.listCertifications(context, dashboardScope(caller, 'TEST'), query),
        toCertificationSummary,
      ),
    ),
    handler(endpoints.getWalletCertification.call, async ({ caller, params }) => {
      const scope = dashboardScope(caller, 'TEST')
      const found = await certifications.findCertification(context, scope, params.certification_id)
      return { status: 200, body: toCertification(found) }
    }),
    handler(endpoints.cancelWalletCertification.call, async ({ caller, params }, call) => {
      const scope = dashboardScope(caller, 'TEST')
      const by = actedBy(caller, call)
      const job = await certifications.cancelCertification(context, scope, params.certification_id, by)
      return { status: 200, body: toCertification(job) }
    }),
  ]
}
