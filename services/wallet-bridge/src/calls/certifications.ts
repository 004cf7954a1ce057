import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import {
  cancelWalletCertification,
  certifyWallet,
  getWalletCertification,
  listWalletCertifications,
} from '@pitboss/contracts/endpoints/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { answerPage } from '@pitboss/storage/read-page'
import type { KeepCertifications } from '../actions/keep-certifications.ts'
import { toCertification, toCertificationSummary } from '../records/render-certification.ts'
import { dashboardScope } from './dashboard-scope.ts'

const notLiveText =
  'There is no certification of a LIVE wallet, for it moves money of a test player. Certify the TEST wallet.'

/** What people ask about certifications of the TEST wallet. Source: docs/contract.md, section 3. */
export function certificationCalls(certifications: KeepCertifications): CallHandler[] {
  return [
    handler(certifyWallet.call, async ({ caller, params, body }, context) => {
      if (params.environment === 'LIVE') throw new ServiceError('NOT_FOUND', { message: notLiveText })
      const fallback = caller.account.currencies[0] ?? 'USD'
      const scope = dashboardScope(caller, 'TEST')
      const job = await certifications.start(scope, body, fallback, actedBy(caller, context))
      return { status: 202, body: toCertification(job) }
    }),
    handler(listWalletCertifications.call, async ({ caller, query }) =>
      answerPage(await certifications.list(dashboardScope(caller, 'TEST'), query), toCertificationSummary),
    ),
    handler(getWalletCertification.call, async ({ caller, params }) => ({
      status: 200,
      body: toCertification(
        await certifications.find(dashboardScope(caller, 'TEST'), params.certification_id),
      ),
    })),
    handler(cancelWalletCertification.call, async ({ caller, params }, context) => {
      const scope = dashboardScope(caller, 'TEST')
      const by = actedBy(caller, context)
      const job = await certifications.cancel(scope, params.certification_id, by)
      return { status: 200, body: toCertification(job) }
    }),
  ]
}
