import { cancelledCertification } from '@pitboss/storage/certification-jobs'
import { jobIndexes } from '@pitboss/storage/job-store'
import { openJobs } from '@pitboss/storage/jobs'
import type { Wing } from '../../wing.ts'
import { runCertification } from './actions/run-certification.ts'
import { certificationCalls } from './calls/certifications.ts'
import type { CertificationContext } from './context.ts'
import { toCertificationSummary } from './records/render-certification.ts'
import { createCertifications } from './storage/certification-store.ts'

/** Each takes some calls at a time from a wallet; more orders wait their turn. */
const placesMax = 8

/** Certifications of TEST wallets. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { db, clockAheadMs }) {
    const context: CertificationContext = {
      ...core,
      certifications: openJobs({
        ...{ store: createCertifications(db), kind: 'certification', of: ' of this wallet' },
        ...{ summary: toCertificationSummary, cancelled: cancelledCertification },
        ...{ ...core, placesMax, clockAheadMs },
      }),
    }
    return {
      calls: certificationCalls(context),
      start: () => context.certifications.start((held) => runCertification(context, held)),
    }
  },
}
