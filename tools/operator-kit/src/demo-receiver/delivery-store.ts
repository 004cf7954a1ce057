import { join } from 'node:path'
import { z } from 'zod'
import { openJournal } from '../shared/journal.ts'

/** Held in memory for the lists; the file keeps everything. */
const RECEIVED_KEPT_MAX = 100_000

const receivedSchema = z.object({
  seq: z.int(),
  received_at: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  verified: z.boolean(),
  reason: z.string().nullable(),
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  attempt: z.number().nullable(),
  /** True when this event id had been accepted before. */
  duplicate: z.boolean(),
  /** Null when no answer was given on purpose. */
  answered_status: z.number().nullable(),
  raw_body: z.string(),
})
export type Received = z.infer<typeof receivedSchema>
const clearedSchema = z.object({ cleared_to: z.int() })

export type DeliveryStore = {
  /** Stores a delivery; resolves once it is on disk. */
  add(delivery: Omit<Received, 'seq' | 'duplicate'>): Promise<void>
  list(): readonly Received[]
  clear(): Promise<void>
  close(): Promise<void>
}

/** Everything that was delivered, in a file of JSON lines that survives kill -9. */
export async function openDeliveryStore(dataDir: string): Promise<DeliveryStore> {
  let received: Received[] = []
  let seq = 0
  const acceptedIds = new Set<string>()

  function remember(delivery: Received): void {
    received.push(delivery)
    if (received.length > 2 * RECEIVED_KEPT_MAX) received = received.slice(-RECEIVED_KEPT_MAX)
    seq = delivery.seq
    const accepted = delivery.answered_status !== null && delivery.answered_status < 300
    if (delivery.verified && accepted && delivery.event_id !== null) acceptedIds.add(delivery.event_id)
  }
  function forget(clearedTo: number): void {
    received = []
    seq = Math.max(seq, clearedTo)
    acceptedIds.clear()
  }
  const journal = await openJournal(join(dataDir, 'deliveries.jsonl'), (line) => {
    const cleared = clearedSchema.safeParse(line)
    if (cleared.success) forget(cleared.data.cleared_to)
    else remember(receivedSchema.parse(line))
  })
  return {
    async add(delivery) {
      const duplicate = delivery.event_id !== null && acceptedIds.has(delivery.event_id)
      const stored = { ...delivery, seq: seq + 1, duplicate }
      remember(stored)
      journal.append(stored)
      await journal.settled()
    },
    list: () => received,
    async clear() {
      forget(seq)
      journal.append({ cleared_to: seq })
      await journal.settled()
    },
    close: () => journal.close(),
  }
}
