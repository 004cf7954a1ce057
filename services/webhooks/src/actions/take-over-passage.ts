import type { NextRange } from '../rules/passage.ts'
import type { LoggedEvent } from '../storage/collections.ts'
import { newDueOf, newInterrupted } from '../storage/new-delivery.ts'
import type { EndpointRun, RunContext } from './endpoint-run.ts'
import { insertRange } from './store-passing.ts'

const logPageSize = 200
const triesMax = 20

/** What a passage is stored by. Each call rejects only for an outage. */
export type PassageStore<Event> = {
  /** The end of the endpoint's last range, or where its passage begins. */
  readonly readCursor: () => Promise<number>
  /** Whether the lease is still this worker's, in the database. */
  readonly holdsLease: () => Promise<boolean>
  /** Events after `afterSeq` in the order of the log, without gaps; none at its end. */
  readonly readAfter: (afterSeq: number) => Promise<readonly Event[]>
  readonly isWanted: (event: Event) => boolean
  /** Stores a delivery for each whose attempt has an unknown outcome; leaves those that are there. */
  readonly storeInterrupted: (events: readonly Event[]) => Promise<void>
  /** False when another range begins there: another worker passes the log for this endpoint. */
  readonly insertRange: (range: NextRange<never>) => Promise<boolean>
}

/** Begins to pass the log for an endpoint under its lease. @returns false when the lease is lost */
export async function openPassage(c: RunContext, run: EndpointRun): Promise<boolean> {
  const { webhookId, scope, taken } = run
  const cursor = await takeOverPassage<LoggedEvent>(
    {
      readCursor: () => readCursor(c, run),
      holdsLease: async () => (await c.endpoints.readTogether(webhookId))?.leaseToken === run.token,
      readAfter: (afterSeq) => c.tail.readAfter(scope, afterSeq, logPageSize),
      isWanted: ({ targets }) => targets.includes(webhookId),
      async storeInterrupted(events) {
        const made = events.map((one) => newInterrupted(newDueOf(webhookId, one), c.clock.now(), c))
        await c.deliveries.insertAbsent(made)
        run.logger.warn({ events: events.length }, 'deliveries.interrupted')
      },
      insertRange: (range) => insertRange(c, run, range),
    },
    taken.mayHaveSent,
  )
  if (cursor !== null) run.passage.cursor = cursor
  return cursor !== null
}

/** Where the endpoint stands: after its last range, or where it begins. Notes the end of its log. */
async function readCursor(c: RunContext, run: EndpointRun): Promise<number> {
  const { webhookId, scope, taken } = run
  const passed = await c.ranges.endOf(webhookId)
  // Read after the ranges: another worker may pass what is recorded meanwhile.
  const end = await c.events.endOf(scope)
  if (passed !== null && passed > end) {
    const removed = await c.ranges.removeAfter(webhookId, end)
    run.logger.error({ passed, end, removed }, 'ranges.ahead-of-log')
    return readCursor(c, run)
  }
  run.endNoted = Math.max(run.endNoted, end)
  const { beginsAfter } = taken.endpoint
  return passed ?? beginsAfter ?? Math.max(0, (await c.events.endOfFirst(scope)) - taken.mayHaveSent)
}

/**
 * Begins to pass the log for an endpoint whose last worker may have made attempts that are on no record. They
 * are stored as interrupted and passed before anything else is sent; who loses that range begins again after
 * the one that stands. The lease is read after the cursor: a later holder begins at this cursor or after it.
 * @param ahead so many events after the cursor may have been sent
 * @returns the cursor; null when the lease is lost
 */
export async function takeOverPassage<Event>(store: PassageStore<Event>, ahead: number) {
  for (let tried = 0; tried < triesMax; tried++) {
    const cursor = await store.readCursor()
    if (!(await store.holdsLease())) return null
    const { wanted, to } = await readWanted(store, cursor, ahead)
    if (wanted.length === 0) return cursor
    await store.storeInterrupted(wanted)
    if (await store.insertRange({ first: cursor + 1, to, items: [] })) return to
  }
  throw new Error('another worker keeps passing the log for this endpoint')
}

/** Reads on until it knows `ahead` events for the endpoint, or all. @returns these, and how far it has read */
async function readWanted<Event>(store: PassageStore<Event>, cursor: number, ahead: number) {
  const wanted: Event[] = []
  let to = cursor
  while (wanted.length < ahead) {
    const read = await store.readAfter(to)
    if (read.length === 0) break
    for (const event of read) {
      if (wanted.length === ahead) break
      to += 1
      if (store.isWanted(event)) wanted.push(event)
    }
  }
  return { wanted, to }
}
