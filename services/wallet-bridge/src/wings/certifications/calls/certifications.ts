import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { answerPage } from '@pitboss/storage/read-page'
import { listCertifications, startCertification } from '../actions/order-certifications.ts'
import type { CertificationContext } from '../context.ts'
import { toCertification, toCertificationSummary } from '../records/render-certification.ts'

const notLiveText =
  'There is no certification of a LIVE wallet, for it moves money of a test player. Certify the TEST wallet.'

/** What people ask about certifications of the TEST wallet. Source: docs/contract.md, section 3. */
export function certificationCalls(context: CertificationContext): CallHandler[] {
  const { certifications } = context
  return [
    handler(endpoints.certifyWallet.call, async ({ caller, params, body }, call) => {
      if (params.environment === 'LIVE') throw new ServiceError('NOT_FOUND', { message: notLiveText })
      const fallback = caller.account.currencies[0] ?? 'USD'
      const by = actedBy(caller, call)
      return answer(toCertification(await startCertification(context, caller.scope, body, fallback, by)), 202)
    }),
    handler(endpoints.listWalletCertifications.call, async ({ caller, query }) =>
      answerPage(await listCertifications(context, caller.scope, query), toCertificationSummary),
    ),
    handler(endpoints.getWalletCertification.call, async ({ caller, params }) =>
      answer(toCertification(await certifications.find([caller.scope], params.certification_id))),
    ),
    handler(endpoints.cancelWalletCertification.call, async ({ caller, params }, call) => {
      const job = await certifications.find([caller.scope], params.certification_id)
      return answer(toCertification(await certifications.cancel(job, actedBy(caller, call))))
    }),
  ]
}
