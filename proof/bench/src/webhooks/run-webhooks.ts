import type { Cleanup } from '../harness/cleanup.ts'
import { measureCrowd } from './measure-crowd.ts'
import { measureLive } from './measure-live.ts'
import { measureNeighbours } from './measure-neighbours.ts'
import { measureRewind } from './measure-rewind.ts'
import { measureStored } from './measure-stored.ts'
import type { Measured } from '../harness/measured.ts'
import { runParts } from '../harness/run-parts.ts'

/** Parts of the benchmark, each with engines of its own. */
export const webhookParts = ['live', 'neighbours', 'crowd', 'rewind', 'stored'] as const
type WebhookPart = (typeof webhookParts)[number]

export type WebhooksPlan = {
  parts: readonly WebhookPart[]
  /** Length of each stretch at a steady rate. */
  steadySeconds: number
  /** Events in the stream that is rewound. */
  events: number
  /** Deliveries stored beside those that are claimed. */
  deliveries: number
}

/** Measures the chosen parts. */
export async function runWebhooks(
  { parts, steadySeconds, events, deliveries }: WebhooksPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const measures = {
    live: (own: Cleanup) => measureLive(steadySeconds, own, say),
    neighbours: (own: Cleanup) => measureNeighbours(steadySeconds, own, say),
    crowd: (own: Cleanup) => measureCrowd(steadySeconds, own, say),
    rewind: (own: Cleanup) => measureRewind(events, own, say),
    stored: (own: Cleanup) => measureStored(deliveries, own, say),
  }
  const { results, text } = await runParts(parts, measures, cleanup)
  return { result: { events, deliveries, ...results }, text }
}
