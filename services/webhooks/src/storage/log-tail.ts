import type { Scope } from '@pitboss/contracts/caller'
import type { EventLog, LoggedEvent } from './event-log.ts'
import { logKey } from './log-keys.ts'

/**
 * The newest events of the log, each of which goes to several endpoints soon. Recorded events never change.
 */
export type LogTail = {
  /** Remembers events that this process has recorded or read. */
  put(events: readonly LoggedEvent[]): void
  /** `EventLog.readAfter`, from memory as far as it reaches. */
  readAfter(scope: Scope, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]>
}

/** @param charactersMax bound of the remembered bodies; the oldest leaves first */
export function createLogTail(log: Pick<EventLog, 'readAfter'>, charactersMax: number): LogTail {
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

  function remembered(scope: Scope, afterSeq: number, limit: number): LoggedEvent[] {
    const found: LoggedEvent[] = []
    for (let seq = afterSeq + 1; found.length < limit; seq++) {
      const event = events.get(logKey(scope, seq))
      if (event === undefined) break
      found.push(event)
    }
    return found
  }

  return {
    put,
    async readAfter(scope, afterSeq, limit) {
      const known = remembered(scope, afterSeq, limit)
      if (known.length > 0) return known
      const key = `${logKey(scope, afterSeq)}/${limit}`
      const read = reading.get(key) ?? log.readAfter(scope, afterSeq, limit)
      reading.set(key, read)
      try {
        const found = await read
        put(found)
        return found
      } finally {
        reading.delete(key)
      }
    },
  }
}
