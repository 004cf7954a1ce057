import type { NewEvent } from './log-append.ts'

/*
 * Nearly every event that comes is new, and needs no search. No event is created before its round or session
 * is opened. So an event is not among those up to some number of its log if its round was opened after all of
 * these were created; and what follows that number, this process has recorded itself and remembers.
 */

/** Clocks of services, and an id and its object, differ by less. Source: ours. */
const apartMaxMs = 10_000
const eventsMax = 32_768

/** From where on a log's events are remembered: `highMs` is the latest creation time up to there. */
export type Floor = { highMs: number }

/** What this process has recorded lately, by id, the oldest first. */
export type RecentEvents = Map<string, { readonly floor: Floor; readonly highMs: number }>

/** Whether the log is to be searched for the event; all that follows `floor` this process has recorded. */
export function mayBeRecorded(
  recent: RecentEvents,
  { id, openedAtMs, createdAt }: Pick<NewEvent, 'id' | 'openedAtMs' | 'createdAt'>,
  { highMs }: Floor,
): boolean {
  // An id that names a time to come was not made here, and proves nothing.
  const isPlausible = openedAtMs !== null && openedAtMs <= createdAt.getTime() + apartMaxMs
  return !isPlausible || openedAtMs <= highMs + apartMaxMs || recent.has(id)
}

/** Remembers an event that this process has recorded. @param highMs the latest creation time up to it */
export function noteRecent(recent: RecentEvents, id: string, floor: Floor, highMs: number): void {
  recent.set(id, { floor, highMs })
  for (const [oldest, one] of recent) {
    if (recent.size <= eventsMax) return
    recent.delete(oldest)
    one.floor.highMs = Math.max(one.floor.highMs, one.highMs)
  }
}
