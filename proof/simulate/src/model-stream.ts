import type { RenderedEvent } from '@pitboss/storage/rendered-event'

/** The event stream: keeps every event once by its id, in the order in which it came. */
export type ModelStream = {
  readonly events: readonly RenderedEvent[]
  publish(entry: RenderedEvent): void
  has(id: string): boolean
}

export function createModelStream(onEvent: (entry: RenderedEvent) => void): ModelStream {
  const events: RenderedEvent[] = []
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
