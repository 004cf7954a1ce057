import type { Peer } from '@pitboss/contracts/certification/http-cases'
import type { Recorder } from '@pitboss/contracts/certification/record-exchanges'
import {
  type CaseResult,
  type CertificationCase,
  verdictOf,
} from '@pitboss/contracts/certification/run-cases'
import { runCertification } from '@pitboss/contracts/certification/run-certification'

export type CertificationReport = {
  suite: string
  target: string
  started_at: string
  certified: boolean
  /** Why it ended before its last case; null unless it did. */
  reason: string | null
  passed: number
  failed: number
  skipped: number
  cases: CaseResult[]
}

/**
 * Runs every case in order; a failure does not stop the rest unless the rest needs what failed, or nothing
 * answers any more. A case that hangs fails after a minute. Never throws.
 */
export async function runCases<Context extends Peer>({
  suite,
  target,
  cases,
  context,
  recorder,
  onResult,
}: {
  suite: string
  target: string
  cases: ReadonlyArray<CertificationCase<Context>>
  context: Context
  recorder: Recorder
  onResult: (result: CaseResult) => void
}): Promise<CertificationReport> {
  const startedAt = new Date().toISOString()
  const results: CaseResult[] = []
  const ended = await runCertification({
    ...{ cases, done: [], context, recorder, signal: new AbortController().signal },
    whyStop: async () => null,
    async keep({ exchanges: _, exchanges_total: __, ...result }) {
      results.push(result)
      onResult(result)
      return true
    },
  })
  const { certified, ...counts } = verdictOf(results)
  const reason = ended?.reason ?? null
  return {
    ...{ suite, target, started_at: startedAt, certified: certified && reason === null, reason },
    ...counts,
    cases: results,
  }
}
