/** A case that failed; the message names expectation and result. */
export class CaseFailure extends Error {}

/** A case that cannot be run with the options given. */
export class CaseSkipped extends Error {}

/** One thing that a certified party must do. Cases of a suite run one after another, in order. */
export type CertificationCase<Context> = {
  /** Stable name for reports and tests, kebab-case. */
  readonly id: string
  readonly group: string
  /** A sentence that is true when the case passes. */
  readonly title: string
  /** The usual fault when it fails. */
  readonly hint: string
  run(context: Context): Promise<void>
}

/** Makes a case of a group. */
export function defineCase<Context>(
  group: string,
  id: string,
  rest: Pick<CertificationCase<Context>, 'title' | 'hint' | 'run'>,
): CertificationCase<Context> {
  return { group, id, ...rest }
}

/** @throws CaseFailure unless the condition holds */
export function expect(condition: boolean, message: string): void {
  if (!condition) throw new CaseFailure(message)
}

const CASE_DEADLINE_MS = 60_000

export type CaseResult = {
  id: string
  group: string
  title: string
  outcome: 'passed' | 'failed' | 'skipped'
  duration_ms: number
  message: string | null
  hint: string | null
}

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
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const startedAt = new Date().toISOString()
  const results: CaseResult[] = []
  for (const one of cases) {
    const result = await runCase(one, context)
    results.push(result)
    onResult(result)
  }
  const count = (outcome: CaseResult['outcome']): number =>
    results.filter((one) => one.outcome === outcome).length
  return {
    suite,
    target,
    started_at: startedAt,
    certified: count('failed') === 0 && count('passed') > 0,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    cases: results,
  }
}

async function runCase<Context>(one: CertificationCase<Context>, context: Context): Promise<CaseResult> {
  const startedAt = performance.now()
  const { id, group, title } = one
  const ended = (outcome: CaseResult['outcome'], message: string | null): CaseResult => {
    const duration_ms = Math.round(performance.now() - startedAt)
    return { id, group, title, outcome, duration_ms, message, hint: outcome === 'failed' ? one.hint : null }
  }
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new CaseFailure('the case did not end within 60 s')), CASE_DEADLINE_MS)
  })
  try {
    await Promise.race([one.run(context), deadline])
    return ended('passed', null)
  } catch (error) {
    if (error instanceof CaseSkipped) return ended('skipped', error.message)
    if (error instanceof CaseFailure) return ended('failed', error.message)
    return ended('failed', error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error')
  } finally {
    clearTimeout(timer)
  }
}
