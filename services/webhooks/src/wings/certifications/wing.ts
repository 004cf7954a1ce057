import { cancelledCertification } from '@pitboss/storage/certification-jobs'
import { jobIndexes } from '@pitboss/storage/job-store'
import { openJobs } from '@pitboss/storage/jobs'
import type { Wing } from '../../context.ts'
import { type CertificationContext, presentSummary, runCertification } from './actions/run-certification.ts'
import { certificationCalls } from './calls/certifications.ts'
import { createCertifications } from './storage/certification-store.ts'

/** A burst of a certification opens 50 connections; more orders wait their turn. */
const placesMax = 4

/** Certifications of TEST receivers. Source: docs/contract.md, section 3. */
export const certifications: Wing = {
  indexes: { certifications: jobIndexes },
  audited: ['certifications'],
  open(core, { clockAheadMs, post }) {
    const context: CertificationContext = {
      ...{ ...core, post },
      certifications: openJobs({
        ...{ store: createCertifications(core.db), kind: 'certification', of: ' of this endpoint' },
        ...{ summary: presentSummary, cancelled: cancelledCertification },
        ...{ ...core, placesMax, clockAheadMs },
      }),
    }
    return {
      calls: certificationCalls(context),
      start: () => context.certifications.start((held) => runCertification(context, held)),
    }
  },
}
