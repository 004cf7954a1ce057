import { startPoll, startRestingPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { Entry } from './journal.ts'
import { entryNumber, type StreamKey } from './journal-keys.ts'

/** Where the stream of events stands. */
export type EventsPosition = {
  /** Sequence of the newest event. */
  readonly last: number
  /** webhooks has recorded every event up to this sequence, or it has left the stream. */
  readonly recorded: number
  /** Sequence of the oldest event that is there, where it was asked for. */
  readonly first?: number
  /** Differs for each connection to the broker. */
  readonly connection: number
}

/** The part of the bus that sends events. */
export type EventPublisher = {
  /** Resolves when the stream has the event: its sequence there, and whether the stream had it before. */
  publishEvent(event: {
    id: string | null
    subject: string
    payload: Uint8Array
    traceparent?: string
  }): Promise<{ readonly seq: number; readonly duplicate: boolean }>
  connected(): boolean
}

/** An entry with events, and what follows once webhooks has recorded them. */
type Outgoing<Fact> = {
  readonly stream: StreamKey
  readonly entry: Entry<Fact>
  readonly recorded: () => void
  /** When it was given to be sent, on the steady clock. */
  readonly sinceMs: number
}

export type EventSender<Fact> = ReturnType<typeof createEventSender<Fact>>

/**
 * For so long an event waits at least: recording and delivering it takes more commands than the round that it
 * is about, whose player has his answer by then. Source: ours.
 */
const restMs = 45
/** And so long at most, where the time of its entry is that of a clock which is ahead. */
const restMostMs = 150
/** Events leave at multiples of it, so that what two services have of a round is recorded together. */
const leaveEveryMs = 30
const confirmEveryMs = 250
const againEveryMs = 1000
const unacknowledgedMax = 256

/**
 * Publishes the events of entries, many streams in one flush and each stream's in their order, and waits
 * until webhooks has recorded them: what the stream of events may have lost is sent again. Source:
 * docs/decisions/2026-11-22-events-outlive-the-stream.md.
 */
export function createEventSender<Fact>({
  bus,
  position,
  now,
  logger,
}: {
  bus: EventPublisher
  position: (withFirst: boolean) => Promise<EventsPosition>
  now: () => Date
  logger: Logger
}) {
  let waiting: Outgoing<Fact>[] = []
  /** By stream, what failed and what came after it. */
  let failed = new Map<StreamKey, Outgoing<Fact>[]>()
  /** By the entry's id, what the stream of events has acknowledged, with the last sequence of its events. */
  let sent = new Map<string, { readonly outgoing: Outgoing<Fact>; readonly seqs: readonly number[] }>()
  let generation = 0
  let unacknowledged = 0
  let newest = 0
  let isBackwards = false
  let seen: EventsPosition | null = null
  /** Nothing was recorded between the last two positions. */
  let isStill = false
  let planned = false
  const confirming = { wake: () => {} }

  function plan(): void {
    if (planned || waiting.length === 0) return
    planned = true
    const leavesInMs = leaveEveryMs - (now().getTime() % leaveEveryMs)
    setTimeout(() => {
      planned = false
      pump()
      if (bus.connected()) plan()
    }, leavesInMs)
  }

  function pump(): void {
    if (!bus.connected()) return
    const early = new Set<StreamKey>()
    const left: Outgoing<Fact>[] = []
    const [nowMs, steadyMs] = [now().getTime(), performance.now()]
    const untilMs = nowMs - (nowMs % leaveEveryMs) - restMs
    let taken = 0
    for (const outgoing of waiting) {
      if (unacknowledged >= unacknowledgedMax) break
      taken += 1
      const { stream, entry, sinceMs } = outgoing
      const isDue = entry.at.getTime() < untilMs || steadyMs - sinceMs >= restMostMs
      const held = failed.get(stream)
      if (!isDue || early.has(stream)) {
        // What follows of its stream goes after it.
        early.add(stream)
        left.push(outgoing)
      } else if (held === undefined) void publish(outgoing)
      else held.push(outgoing)
    }
    waiting = [...left, ...waiting.slice(taken)]
  }

  /** Puts all events of an entry on the wire at once, in their order. */
  async function publish(outgoing: Outgoing<Fact>): Promise<void> {
    const { stream, entry } = outgoing
    const { ev: events = [] } = entry
    const own = generation
    const newestBefore = newest
    unacknowledged += events.length
    const acknowledged = await Promise.allSettled(
      events.map(({ id, subject, body, again, traceparent }) =>
        bus.publishEvent({
          id: again === true ? null : id,
          subject,
          payload: Buffer.from(body),
          ...(traceparent === undefined ? {} : { traceparent }),
        }),
      ),
    )
    unacknowledged -= events.length
    if (own !== generation) return
    const seqs: number[] = []
    for (const each of acknowledged) {
      if (each.status === 'rejected') continue
      const { seq, duplicate } = each.value
      if (!duplicate && seq <= newestBefore) isBackwards = true
      if (!duplicate) newest = Math.max(newest, seq)
      seqs.push(seq)
    }
    const refused = acknowledged.find((each) => each.status === 'rejected')
    if (refused === undefined) {
      sent.set(entry._id, { outgoing, seqs })
      confirming.wake()
    } else {
      logger.warn({ err: refused.reason, entry_id: entry._id }, 'journal.events-deferred')
      failed.set(stream, [...(failed.get(stream) ?? []), outgoing])
    }
    if (waiting.length > 0) pump()
  }

  /** Puts back at the front what has to be sent again, each stream's entries in their order. */
  function again(outgoing: readonly Outgoing<Fact>[]): void {
    const inOrder = outgoing.toSorted((a, b) => entryNumber(a.entry._id) - entryNumber(b.entry._id))
    waiting = [...inOrder, ...waiting]
  }

  function retry(): void {
    if (!bus.connected()) return
    const held = [...failed.values()].flat()
    failed = new Map()
    again(held)
    pump()
    plan()
  }

  /** Releases what webhooks has recorded, and sends again what the stream may have lost. */
  async function confirm(): Promise<void> {
    if (sent.size === 0 || !bus.connected()) return
    const own = generation
    const newestBefore = newest
    const now = await position(isStill)
    if (own !== generation) return
    const isOther = seen !== null && (seen.connection !== now.connection || now.last < seen.last)
    const recordedBefore = seen?.recorded
    const hasLostAll = isBackwards || isOther || now.last < newestBefore
    isStill = recordedBefore === now.recorded && !hasLostAll
    seen = now
    const lost: Outgoing<Fact>[] = []
    for (const [id, { outgoing, seqs }] of sent) {
      // Only what is not recorded for long can leave the stream by its age, so the oldest sequence is asked
      // for while nothing is.
      const hasLeft = (seq: number) =>
        now.first !== undefined && recordedBefore !== undefined && seq > recordedBefore && seq < now.first
      const isLost = hasLostAll || seqs.some(hasLeft)
      const isRecorded = seqs.every((seq) => seq <= now.recorded)
      if (!isLost && !isRecorded) continue
      sent.delete(id)
      if (isLost) lost.push(outgoing)
      else outgoing.recorded()
    }
    if (hasLostAll) {
      newest = 0
      isBackwards = false
    }
    if (lost.length === 0) return
    logger.warn({ entries: lost.length }, 'journal.events-sent-again')
    again(lost)
    pump()
  }

  return {
    /** Sends the entry's events, after those that the stream has sent before. */
    send(outgoing: Omit<Outgoing<Fact>, 'sinceMs'>): void {
      waiting.push({ ...outgoing, sinceMs: performance.now() })
      plan()
    },
    /** Forgets all that waits or is sent. */
    forget(): void {
      generation += 1
      waiting = []
      failed = new Map()
      sent = new Map()
    },
    start(): () => Promise<void> {
      const confirmer = startRestingPoll({
        event: 'journal.confirm-failed',
        everyMs: confirmEveryMs,
        hasWork: () => sent.size > 0,
        work: confirm,
        logger,
        level: 'warn',
      })
      confirming.wake = confirmer.wake
      const polls = [
        confirmer,
        startPoll({
          event: 'journal.retry-failed',
          everyMs: againEveryMs,
          work: async () => retry(),
          logger,
        }),
      ]
      return async () => void (await Promise.all(polls.map((poll) => poll.stop())))
    },
  }
}
