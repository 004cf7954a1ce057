import type { Scope } from '@pitboss/contracts/caller'
import type { EventLog } from './event-log.ts'

/** Caches the bodies of recent events, each of which goes to several endpoints soon. Bodies never change. */
export type BodyCache = {
  /**
   * The bodies of recorded events of this scope; those not in the cache are read from the database.
   * @param ids of its events: what is cached is not asked for its scope
   */
  of(scope: Scope, ids: readonly string[]): Promise<Map<string, string>>
}

/** @param charactersMax bound of the cache; the oldest body leaves first */
export function createBodyCache(events: EventLog, charactersMax: number): BodyCache {
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
    async of(scope, ids) {
      const found = new Map<string, string>()
      const absent: string[] = []
      for (const id of ids) {
        const body = kept.get(id)
        if (body === undefined) absent.push(id)
        else found.set(id, body)
      }
      if (absent.length === 0) return found
      for (const [id, body] of await events.bodies(scope, absent)) {
        found.set(id, body)
        put(id, body)
      }
      return found
    },
  }
}
