import type { Recorder } from './record-exchanges.ts'
import { type CaseResult, type CertificationCase, runCase } from './run-cases.ts'

/** A case of a report that is kept: its result and its latest exchanges. */
export type ReportedCase = CaseResult & ReturnType<Recorder['take']>

/**
 * Runs the cases after the first `done` ones, in order. A case that is cut short is not kept and runs again
 * where the certification goes on.
 * @param keep stores a result; false when somebody else has taken the certification over
 * @param whyStop why no further case may run; null as long as they may. Asked before each case
 * @returns null when it has to go on elsewhere; else why it ended before its last case, if it did
 */
export async function runCertification<Context>({
  cases,
  done,
  context,
  recorder,
  signal,
  whyStop,
  keep,
}: {
  cases: ReadonlyArray<CertificationCase<Context>>
  done: number
  context: Context
  recorder: Recorder
  signal: AbortSignal
  whyStop: () => Promise<string | null>
  keep: (result: ReportedCase) => Promise<boolean>
}): Promise<{ readonly reason: string | null } | null> {
  for (const one of cases.slice(done)) {
    if (signal.aborted) return null
    const reason = await whyStop()
    if (reason !== null) return { reason }
    recorder.take()
    const result = await runCase(one, context)
    if (signal.aborted) return null
    const { message } = result
    const shown = message === null ? null : recorder.shown(message)
    if (!(await keep({ ...result, message: shown, ...recorder.take() }))) return null
  }
  return { reason: null }
}
