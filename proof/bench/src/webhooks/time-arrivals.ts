import { createLatencyRecorder, type LatencyRecorder } from '../harness/latency.ts'
import type { Receiver } from './receiver.ts'

/**
 * Times events from the stream's acknowledgement to their arrival at the receiver.
 * @param isMeasured whether arrivals at this path are timed; all unless told
 * @returns the times, and what takes the acknowledgement of each event: it may arrive before that is here
 */
export function timeArrivals(
  receiver: Pick<Receiver, 'onArrival'>,
  isMeasured: (path: string) => boolean = () => true,
): { readonly latency: LatencyRecorder; sent(event: { id: string; atMs: number }): void } {
  const sentAt = new Map<string, number>()
  const early = new Map<string, number>()
  const latency = createLatencyRecorder()
  receiver.onArrival((id, path, atMs) => {
    if (!isMeasured(path)) return
    const from = sentAt.get(id)
    if (from === undefined) early.set(id, atMs)
    else latency.record(atMs - from)
  })
  return {
    latency,
    sent({ id, atMs }) {
      sentAt.set(id, atMs)
      const arrived = early.get(id)
      if (arrived !== undefined) latency.record(Math.max(0, arrived - atMs))
    },
  }
}
