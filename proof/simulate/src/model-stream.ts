import type { OutboxEntry } from '@pitboss/storage/outbox-entry'

/** The event stream: keeps every event once by its id, in the order in which it came. */
export type ModelStream = {
  readonly events: readonly OutboxEntry[]
  publish(entry: OutboxEntry): void
  has(id: string): boolean
}

export function createModelStream(onEvent: (entry: OutboxEntry) => void): ModelStream {
  const events: OutboxEntry[] = []
  const ids = new Set<string>()
  return {
    events,
    has: (id) => ids.has(id),
    publish(entry) {
      if (ids.has(entry.id)) return
      ids.add(entry.id)
      events.push(entry)
      onEvent(entry)
    },
  }
}
