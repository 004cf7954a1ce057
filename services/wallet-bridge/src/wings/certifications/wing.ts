import { answer, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { summaryOf } from '@pitboss/contracts/certification/progress'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { openCertifications } from '@pitboss/storage/certification-jobs'
import { jobIndexes } from '@pitboss/storage/job-store'
import { answerPage } from '@pitboss/storage/read-page'
import { walletKeyOf } from '../../rules/movement-keys.ts'
import type { Wing } from '../../wing.ts'
import type { CertificationDocument } from './actions/run-certification.ts'
import { runCertification, startCertification } from './actions/run-certification.ts'

/** Each takes some calls at a time from a wallet; more orders wait their turn. */
const placesMax = 8
const notLiveText =
  'There is no certification of a LIVE wallet, for it moves money of a test player. Certify the TEST wallet.'

/** Certifications of TEST wallets. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { db, clockAheadMs }) {
    const jobs = openCertifications<CertificationDocument>(db, {
      ...{ ...core, of: ' of this wallet', summary: toCertificationSummary, placesMax, clockAheadMs },
    })
    const context = { ...core, certifications: jobs }
    return {
      calls: [
        handler(endpoints.certifyWallet.call, async ({ caller, params, body }, call) => {
          if (params.environment === 'LIVE') throw new ServiceError('NOT_FOUND', { message: notLiveText })
          return answer(toCertification(await startCertification(context, caller, body, call)), 202)
        }),
        handler(endpoints.listWalletCertifications.call, async ({ caller: { scope }, query }) =>
          answerPage(await jobs.list(scope, walletKeyOf(scope), query), toCertificationSummary),
        ),
        handler(endpoints.getWalletCertification.call, async ({ caller, params }) =>
          answer(toCertification(await jobs.find([caller.scope], params.certification_id))),
        ),
        handler(endpoints.cancelWalletCertification.call, async ({ caller, params }, call) => {
          const job = await jobs.find([caller.scope], params.certification_id)
          return answer(toCertification(await jobs.cancel(job, actedBy(caller, call))))
        }),
      ],
      start: () => jobs.start((held) => runCertification(context, held)),
    }
  },
}

/** The public record of a certification without its cases. Source: docs/contract.md, section 3. */
function toCertificationSummary(document: Omit<CertificationDocument, 'cases'>) {
  const {
    playerId,
    currency,
    blockedPlayerId: blocked_player_id,
    unknownPlayerId: unknown_player_id,
  } = document
  return { ...summaryOf(document), player_id: playerId, currency, blocked_player_id, unknown_player_id }
}

function toCertification(document: CertificationDocument) {
  return { ...toCertificationSummary(document), cases: [...document.cases] }
}
