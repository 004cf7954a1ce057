import { build, type Histogram } from 'hdr-histogram-js'

/** Percentiles in milliseconds. */
export type Latency = { p50: number; p95: number; p99: number; max: number }

export type LatencyRecorder = {
  record(ms: number): void
  count(): number
  read(): Latency
}

const microsPerMs = 1000
const longestMicros = 120_000_000

/**
 * Latencies of any number of calls in constant memory, to three digits; those above two minutes count as two
 * minutes.
 */
export function createLatencyRecorder(): LatencyRecorder {
  const histogram: Histogram = build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: longestMicros,
    numberOfSignificantValueDigits: 3,
  })
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / microsPerMs
  return {
    record: (ms) => histogram.recordValue(Math.min(Math.max(1, Math.round(ms * microsPerMs)), longestMicros)),
    count: () => histogram.totalCount,
    read: () => ({ p50: at(50), p95: at(95), p99: at(99), max: at(100) }),
  }
}
