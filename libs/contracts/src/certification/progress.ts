import type { z } from 'zod'
import type { walletCertificationSummarySchema } from '../objects/certification.ts'
import { type CaseResult, isCertified } from './run-cases.ts'
import type { ReportedCase } from './run-certification.ts'

/** What a certification of anything keeps of itself. */
export type CertificationProgress = {
  readonly url: string
  readonly casesTotal: number
  readonly counts: Readonly<Record<CaseResult['outcome'], number>>
  readonly cases: readonly ReportedCase[]
  readonly certified: boolean | null
  /** Why it ended before its last case. */
  readonly reason: string | null
}

/** A certification that nothing has run of. */
export function newProgress(url: string, casesTotal: number): CertificationProgress {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  return { url, casesTotal, counts, cases: [], certified: null, reason: null }
}

/** How it ends: by its counts, unless it ended early. */
export function endOf({ counts }: CertificationProgress, reason: string | null) {
  return { certified: reason === null && isCertified(counts), reason }
}

type Summary = Omit<
  z.infer<typeof walletCertificationSummarySchema>,
  'player_id' | 'currency' | 'blocked_player_id' | 'unknown_player_id'
>

/** The public fields that every certification has, without its cases. Source: docs/contract.md, section 3. */
export function summaryOf(
  job: Omit<CertificationProgress, 'cases'> & {
    readonly _id: string
    readonly status: 'RUNNING' | 'DONE' | 'CANCELLED'
    readonly createdAt: Date
    readonly finishedAt: Date | null
  },
): Summary {
  const { url, status, certified, reason, counts } = job
  return {
    ...{ certification_id: job._id, url, status, certified, reason, ...counts },
    cases_total: job.casesTotal,
    created_at: job.createdAt.toISOString(),
    finished_at: job.finishedAt?.toISOString() ?? null,
  }
}
