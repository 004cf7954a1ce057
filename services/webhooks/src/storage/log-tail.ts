import type { Scope } from '@pitboss/contracts/caller'
import { together } from '@pitboss/runtime/together'
import type { EventLog } from './event-log.ts'
import type { LoggedEvent } from './collections.ts'
import { logKey } from './log-keys.ts'

export type LogTail = ReturnType<typeof createLogTail>

/** Remembers the newest events, since each goes to several endpoints; at most `charactersMax` of bodies. */
export function createLogTail(log: Pick<EventLog, 'readAfter'>, charactersMax: number) {
  const events = new Map<string, LoggedEvent>()
  /** Reads under way, which endpoints at the same place share. */
  const reading = new Map<string, Promise<readonly LoggedEvent[]>>()
  let characters = 0

  function put(added: readonly LoggedEvent[]): void {
    for (const event of added) {
      const key = logKey(event.scope, event.seq)
      if (events.has(key)) continue
      events.set(key, event)
      characters += event.body.length
    }
    for (const [oldest, { body }] of events) {
      if (characters <= charactersMax) return
      events.delete(oldest)
      characters -= body.length
    }
  }

  return {
    put,

    /** `EventLog.readAfter`, from memory where it has the next event. */
    async readAfter(scope: Scope, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]> {
      const known: LoggedEvent[] = []
      for (let seq = afterSeq + 1; known.length < limit; seq++) {
        const event = events.get(logKey(scope, seq))
        if (event === undefined) break
        known.push(event)
      }
      if (known.length > 0) return known
      const key = `${logKey(scope, afterSeq)}/${limit}`
      return together(reading, key, async () => {
        const found = await log.readAfter(scope, afterSeq, limit)
        put(found)
        return found
      })
    },
  }
}
