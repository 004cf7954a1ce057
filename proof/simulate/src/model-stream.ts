import type { OutboxEntry } from '@pitboss/storage/outbox-entry'
import type { Machine } from './machine.ts'

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

/**
 * The relay of an outbox as libs/storage's does it: what waits is published in order, each after the one
 * before, then taken out.
 */
export function createRelay({
  machine,
  stream,
  pendingOf,
  takeOut,
}: {
  machine: Machine
  stream: ModelStream
  pendingOf: (id: string) => readonly OutboxEntry[]
  takeOut: (id: string, eventIds: readonly string[]) => void
}): { relay(document: { readonly _id: string }): Promise<void> } {
  return {
    async relay({ _id: id }) {
      try {
        const pending = await machine.io('read outbox', () => pendingOf(id))
        for (const entry of pending) await machine.io('publish', () => stream.publish(entry))
        const sent = pending.map((entry) => entry.id)
        if (sent.length > 0) await machine.io('empty outbox', () => takeOut(id, sent))
      } catch {
        // Left to the next sweep, as everything that cannot be published now.
      }
    },
  }
}
