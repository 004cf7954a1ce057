import {
  type CaseResult,
  type CertificationCase,
  runCase,
  verdictOf,
} from '@pitboss/contracts/certification/run-cases'

export type CertificationReport = {
  suite: string
  target: string
  started_at: string
  certified: boolean
  passed: number
  failed: number
  skipped: number
  cases: CaseResult[]
}

/**
 * Runs every case in order; a failure does not stop the rest, a case that hangs fails after a minute. Never
 * throws.
 */
export async function runCases<Context>(
  suite: string,
  target: string,
  cases: ReadonlyArray<CertificationCase<Context>>,
  context: Context,
  onResult: (result: CaseResult) => void,
): Promise<CertificationReport> {
  const startedAt = new Date().toISOString()
  const results: CaseResult[] = []
  for (const one of cases) {
    const result = await runCase(one, context)
    results.push(result)
    onResult(result)
  }
  return { suite, target, started_at: startedAt, ...verdictOf(results), cases: results }
}
