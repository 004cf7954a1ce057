import type { Recorder } from './record-exchanges.ts'
import type { Peer } from './http-cases.ts'
import { type CaseResult, type CertificationCase, runCase } from './run-cases.ts'

/** A case of a report that is kept: its result and its latest exchanges. */
export type ReportedCase = CaseResult & ReturnType<Recorder['take']>

/**
 * Runs the cases after those that are `done`, in order. A case that is cut short is not kept and runs again
 * where the certification goes on. It ends early where a case fails that all others need, and where nothing
 * answers any more after a failed case.
 * @param keep stores a result; false when somebody else has taken the certification over
 * @param whyStop why no further case may run; null as long as they may. Asked before each case
 * @returns null when it has to go on elsewhere; else why it ended before its last case, if it did
 */
export async function runCertification<Context extends Peer>({
  cases,
  done,
  context,
  recorder,
  signal,
  whyStop,
  keep,
}: {
  cases: ReadonlyArray<CertificationCase<Context>>
  done: readonly Pick<CaseResult, 'id' | 'outcome'>[]
  context: Context
  recorder: Recorder
  signal: AbortSignal
  whyStop: () => Promise<string | null>
  keep: (result: ReportedCase) => Promise<boolean>
}): Promise<{ readonly reason: string | null } | null> {
  const failed = new Set(done.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))
  let isAnswered = done.some(({ outcome }) => outcome === 'passed')
  for (const one of cases.slice(done.length)) {
    if (signal.aborted) return null
    const needed = cases.find(({ id, endsAll }) => endsAll !== undefined && failed.has(id))
    const reason = (await whyStop()) ?? needed?.endsAll ?? null
    if (reason !== null) return { reason }
    recorder.take()
    const result = await runCase(one, context)
    if (signal.aborted) return null
    const { message } = result
    const shown = message === null ? null : recorder.shown(message)
    if (!(await keep({ ...result, message: shown, ...recorder.take() }))) return null
    isAnswered ||= result.outcome === 'passed'
    if (result.outcome !== 'failed') continue
    failed.add(one.id)
    const silence = await silenceOf(context)
    if (signal.aborted) return null
    if (silence === null) continue
    const { what } = context
    return {
      reason: isAnswered
        ? `The ${what} has not answered any more since the case ${one.id}: ${recorder.shown(silence)}. Start it again, then certify again.`
        : `The ${what} does not answer: ${recorder.shown(silence)}.`,
    }
  }
  return { reason: null }
}

/** Why nothing answers; null when something does, or the certification has no way to it any more. */
async function silenceOf(peer: Peer): Promise<string | null> {
  try {
    const exchanged = await peer.probe()
    return exchanged.kind === 'failure' ? exchanged.error : null
  } catch {
    return null
  }
}
