import { createLatencyRecorder, type Latency } from './latency.ts'

/** Result of one measured stretch. */
export type Sample = {
  concurrency: number
  seconds: number
  count: number
  failed: number
  /** Successes per second. */
  rate: number
  latencyMs: Latency
}

const failuresShown = 3

/**
 * A closed loop: `concurrency` callers, each of which does `work` again as soon as the last one is done, for
 * `durationMs`. Only what succeeded counts.
 * @throws the first failures, when nothing succeeded at all.
 */
export async function runLoad({
  concurrency,
  durationMs,
  work,
  finish,
}: {
  concurrency: number
  durationMs: number
  work: (caller: number) => Promise<void>
  /** Waits for what `work` left under way; it belongs to the measured time. */
  finish?: () => Promise<void>
}): Promise<Sample> {
  const latency = createLatencyRecorder()
  const failures: unknown[] = []
  let failed = 0
  const startedMs = performance.now()
  const untilMs = startedMs + durationMs
  const caller = async (index: number) => {
    while (performance.now() < untilMs) {
      const fromMs = performance.now()
      try {
        await work(index)
        latency.record(performance.now() - fromMs)
      } catch (error) {
        failed++
        if (failures.length < failuresShown) failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => caller(index)))
  await finish?.()
  const seconds = (performance.now() - startedMs) / 1000
  const count = latency.count()
  if (count === 0) throw new AggregateError(failures, `nothing succeeded: ${String(failures[0])}`)
  if (failed > 0)
    process.stderr.write(`${failed} of ${count + failed} failed, first: ${String(failures[0])}\n`)
  return { concurrency, seconds, count, failed, rate: count / seconds, latencyMs: latency.read() }
}
