import { createCleanup, type Cleanup } from '../harness/cleanup.ts'
import { measureLive } from './measure-live.ts'
import { measureNeighbours } from './measure-neighbours.ts'
import { measureRewind } from './measure-rewind.ts'
import { measureStored } from './measure-stored.ts'
import type { Measured } from '../harness/measured.ts'

/** Parts of the benchmark, each with engines of its own. */
export const webhookParts = ['live', 'neighbours', 'rewind', 'stored'] as const
export type WebhookPart = (typeof webhookParts)[number]

export type WebhooksPlan = {
  parts: readonly WebhookPart[]
  /** Length of each stretch at a steady rate. */
  steadySeconds: number
  /** Events in the stream that is rewound. */
  events: number
  /** Deliveries stored beside those that are claimed. */
  deliveries: number
}

/** Runs the chosen parts one after another, each on an empty pair of engines. */
export async function runWebhooks(
  { parts, steadySeconds, events, deliveries }: WebhooksPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<{ result: object; text: string }> {
  const measures: Readonly<Record<WebhookPart, (own: Cleanup) => Promise<Measured>>> = {
    live: (own) => measureLive(steadySeconds, own, say),
    neighbours: (own) => measureNeighbours(steadySeconds, own, say),
    rewind: (own) => measureRewind(events, own, say),
    stored: (own) => measureStored(deliveries, own, say),
  }
  const results: Partial<Record<WebhookPart, object>> = {}
  const texts: string[] = []
  for (const part of parts) {
    const own = createCleanup(cleanup)
    try {
      const { result, text } = await measures[part](own)
      results[part] = result
      texts.push(text)
    } finally {
      await own.run()
    }
  }
  return { result: { events, deliveries, ...results }, text: texts.join('\n\n') }
}
