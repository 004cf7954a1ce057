import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { DocumentKey } from './change-fenced.ts'

/** A document whose events wait: since when, and of which account. */
export type DueOutbox = {
  readonly key: DocumentKey
  readonly at: Date
  readonly account: string
  /** All of it is sent, and waits for webhooks to record it. */
  readonly isSent?: boolean
}

const pageSize = 1000
/** Documents of one account that are relayed of a page. */
const share = 100
const width = 8
const graceMs = 1000
const beginning = new Date(0)

/**
 * One step of the tour through everything that waits for more than a second, oldest first: reads a page,
 * relays a share of each account in turn, and goes on behind that page the next time, so that neither a long
 * backlog of one account nor documents that cannot be published hold up the others. What a step leaves comes
 * in the next tour.
 * @param read at most `limit` documents that wait since after `after` and until `until`, oldest first
 * @param relay publishes what waits in a document; whether it succeeded. Never rejects.
 * @returns the step: in how many milliseconds to take the next one, or nothing for the usual pause
 */
export function createOutboxSweep({
  read,
  relay,
  now,
}: {
  read: (window: { after: Date; until: Date; limit: number }) => Promise<readonly DueOutbox[]>
  relay: (document: DocumentKey) => Promise<boolean>
  now: () => Date
}): (stopping: AbortSignal) => Promise<number | undefined> {
  let after = beginning
  let leftInTour = 0

  return async function step(stopping) {
    const until = new Date(now().getTime() - graceMs)
    const page = await read({ after, until, limit: pageSize })
    const unsent = page.filter(({ isSent }) => isSent !== true)
    const chosen = takeTurns(unsent)
    const outcomes = await mapBounded(
      chosen,
      width,
      async ({ key }) => !stopping.aborted && (await relay(key)),
    )
    const published = outcomes.filter(Boolean).length
    leftInTour += unsent.length - published
    const isLast = page.length < pageSize
    after = isLast ? beginning : (page.at(-1)?.at ?? beginning)
    const isOver = isLast && leftInTour === 0
    if (isLast) leftInTour = 0
    // Without any success the broker is away, or all is sent: the next step can wait.
    const isIdle = page.length > 0 && published === 0
    return isOver || isIdle ? undefined : 0
  }
}

/** The share of each account, oldest first, one of each account by turns. */
function takeTurns(page: readonly DueOutbox[]): DueOutbox[] {
  const byAccount = [...Map.groupBy(page, ({ account }) => account).values()]
  const turns = Array.from({ length: share }, (_, turn) =>
    byAccount.flatMap((documents) => documents[turn] ?? []),
  )
  return turns.flat()
}
