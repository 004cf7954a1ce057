import { cutText, type Recorder } from './record-exchanges.ts'
import { type CaseResult, type CertificationCase, runCase } from './run-cases.ts'

/** A case of a report that is kept: its result and its latest exchanges. */
export type ReportedCase = CaseResult & ReturnType<Recorder['take']>

/**
 * Runs the cases after the first `done` ones, in order. A case that is cut short is not kept and runs again where the
 * certification goes on.
 * @param keep stores a result; false when somebody else has taken the certification over
 * @param isLate whether the certification has used up its time; asked before each case
 * @returns `ended` after the last case, `late` when time was up, `interrupted` when it has to go on elsewhere
 */
export async function runCertification<Context>({
  cases,
  done,
  context,
  recorder,
  secret,
  signal,
  isLate,
  keep,
}: {
  cases: ReadonlyArray<CertificationCase<Context>>
  done: number
  context: Context
  recorder: Recorder
  secret: string
  signal: AbortSignal
  isLate: () => boolean
  keep: (result: ReportedCase) => Promise<boolean>
}): Promise<'ended' | 'late' | 'interrupted'> {
  for (const one of cases.slice(done)) {
    if (signal.aborted) return 'interrupted'
    if (isLate()) return 'late'
    recorder.take()
    const result = await runCase(one, context)
    if (signal.aborted) return 'interrupted'
    const { message } = result
    const shown = message === null ? null : cutText(message.replaceAll(secret, '[secret]'))
    if (!(await keep({ ...result, message: shown, ...recorder.take() }))) return 'interrupted'
  }
  return 'ended'
}
