import type { DemoFile } from '@pitboss/stack/demo-file'
import { z } from 'zod'
import { readReceived } from '../../../../tools/stack/test/fixtures/read-received.ts'

const event = z.looseObject({ created_at: z.string() })

/**
 * Looks at what came to the demo's receiver.
 * @returns a function that says of the deliveries since its last call how many there were, how late they
 *   came, and how many events had come before
 */
export function watchDeliveries(demo: () => DemoFile): () => Promise<string> {
  const known = new Set<string>()
  let after = 0
  return async () => {
    const lateMs: number[] = []
    let again = 0
    for (const { seq, received_at, event_id, raw_body } of await readReceived(demo(), after)) {
      after = seq
      if (event_id === null) continue
      if (known.has(event_id)) again += 1
      known.add(event_id)
      const { created_at } = event.parse(JSON.parse(raw_body))
      lateMs.push(Date.parse(received_at) - Date.parse(created_at))
    }
    const sorted = lateMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return `${sorted.length} deliveries came, half within ${at(0.5)} ms of their event, the latest after ${at(1)} ms; ${again} events came again`
  }
}
