import type { EventStore } from './event-store.ts'

/** Bodies of recent events, which are about to be sent to several endpoints. Bodies never change. */
export type BodyCache = {
  put(eventId: string, body: string): void
  /** Those of `ids` that are recorded; the database is asked for what is not at hand. */
  of(ids: readonly string[]): Promise<Map<string, string>>
}

/** @param charactersMax bound of what is kept; the oldest goes first */
export function createBodyCache(events: EventStore, charactersMax: number): BodyCache {
  const kept = new Map<string, string>()
  let characters = 0

  function put(eventId: string, body: string): void {
    if (kept.has(eventId)) return
    kept.set(eventId, body)
    characters += body.length
    for (const [oldest, text] of kept) {
      if (characters <= charactersMax) return
      kept.delete(oldest)
      characters -= text.length
    }
  }

  return {
    put,
    async of(ids) {
      const found = new Map<string, string>()
      const absent: string[] = []
      for (const id of ids) {
        const body = kept.get(id)
        if (body === undefined) absent.push(id)
        else found.set(id, body)
      }
      if (absent.length === 0) return found
      for (const [id, body] of await events.bodies(absent)) {
        found.set(id, body)
        put(id, body)
      }
      return found
    },
  }
}
