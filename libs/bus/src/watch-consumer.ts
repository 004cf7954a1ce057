import { isDeepStrictEqual } from 'node:util'
import {
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream'
import { startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { Bus } from './connect-bus.ts'
import { absentConsumer, absentStream, orNull } from './or-null.ts'
import type { ConsumerDeclaration } from './topology.ts'

/** Messages that wait so long without an acknowledgement are stalled. Source: docs/contract.md, section 7. */
export const stalledAfterMs = 15_000
/** A consumer that is missed for so long is made again. Source: docs/contract.md, section 7. */
const missedAfterMs = 15_000
const lookEveryMs = 1000
const noteEveryMs = 5000

/** Up to where a consumer has acknowledged everything, and of which history of which stream. */
export type ConsumerPosition = {
  readonly stream: string
  /** When the stream was made, as its server says. */
  readonly streamCreated: string
  readonly seq: number
  /** When the stream took the message of that sequence: another history has another one there. */
  readonly messageAt: string
}

export type Remake = {
  readonly positions: {
    read(consumer: string): Promise<ConsumerPosition | null>
    note(consumer: string, position: ConsumerPosition): Promise<void>
  }
  /** Whether this process notes positions; one of several replicas is enough. */
  notes(): boolean
  /** What operations have under way: they may be about to make the consumer, or want it to begin earlier. */
  orders(): Promise<{ readonly hold: boolean; readonly fromSeqs: readonly number[] }>
  /** The consumer was missing, and is there again. */
  onBack(): void
}

export type ConsumerWatch = {
  /**
   * Whether messages wait and none was acknowledged for 15 s, whatever the reason: nobody works the consumer,
   * it is paused or missing, or what it needs is away. False while the broker does not answer.
   */
  isStalled(): boolean
  /** For how many milliseconds messages have waited without one being acknowledged. */
  stalledMs(): number
  /**
   * Messages that are yet to be acknowledged, as of the last look; of a missing consumer all that came since,
   * whatever its filter. Null while the broker does not answer.
   */
  pending(): number | null
  /** Looks now; the watch does so each second. @throws what the broker or the store of positions throws */
  look(): Promise<void>
  stop(): Promise<void>
}

/**
 * Watches a durable consumer, and makes it again where `remake` says how: 15 s after it was first missed,
 * from where it had acknowledged everything, else from the first message that is there. Messages may come
 * again. Source: docs/contract.md, section 7.
 * @param nowMs a monotonic clock
 */
export function watchConsumer({
  bus,
  consumer: { stream, config },
  remake = null,
  logger,
  nowMs = () => performance.now(),
}: {
  bus: Pick<Bus, 'nc' | 'connected'>
  consumer: ConsumerDeclaration
  remake?: Remake | null
  logger: Pick<Logger, 'warn' | 'error'>
  nowMs?: () => number
}): ConsumerWatch {
  const name = config.durable_name
  const stall = createStallWatch(nowMs)
  let missedAtMs: number | null = null
  /** Everything up to here was acknowledged at the last look at the consumer. */
  let acknowledged: number | null = null
  let pending: number | null = null
  let noted = { seq: 0, atMs: Number.NEGATIVE_INFINITY }

  async function look(): Promise<void> {
    if (!bus.connected()) return lost()
    const manager = await jetstreamManager(bus.nc, { checkAPI: false })
    const info = await orNull(manager.consumers.info(stream, name), absentConsumer).catch(
      (error: unknown) => {
        lost()
        throw error
      },
    )
    await (info === null ? lookForMissing(manager) : lookAt(manager, info))
  }

  function lost(): void {
    pending = null
    stall.lost()
  }

  async function lookAt(manager: JetStreamManager, info: ConsumerInfo): Promise<void> {
    if (missedAtMs !== null) remake?.onBack()
    missedAtMs = null
    acknowledged = info.ack_floor.stream_seq
    pending = info.num_pending + info.num_ack_pending
    stall.saw({ acknowledged, waiting: pending > 0 })
    if (remake === null || !remake.notes()) return
    if (acknowledged === noted.seq || nowMs() - noted.atMs < noteEveryMs) return
    noted = { seq: acknowledged, atMs: nowMs() }
    const found = await positionAt(manager, acknowledged)
    if (found !== null) await remake.positions.note(name, found)
  }

  async function lookForMissing(manager: JetStreamManager): Promise<void> {
    const present = await orNull(manager.streams.info(stream), absentStream)
    // Without its stream there is nothing that waits, and nothing to make it of.
    if (present === null) return lost()
    missedAtMs ??= nowMs()
    const { messages, last_seq: last } = present.state
    pending = Math.min(messages, Math.max(0, last - (acknowledged ?? 0)))
    stall.saw({ acknowledged: acknowledged ?? 0, waiting: pending > 0 })
    if (remake !== null && nowMs() - missedAtMs >= missedAfterMs) await make(manager, present, remake)
  }

  async function make(
    manager: JetStreamManager,
    { state }: StreamInfo,
    { positions, orders }: Remake,
  ): Promise<void> {
    const { hold, fromSeqs } = await orders()
    if (hold) return
    const position = await positions.read(name)
    const isSame = position !== null && isDeepStrictEqual(position, await positionAt(manager, position.seq))
    const fromSeq = isSame ? Math.min(position.seq + 1, ...fromSeqs) : 0
    const start =
      fromSeq <= state.first_seq
        ? { deliver_policy: DeliverPolicy.All }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: fromSeq }
    await manager.consumers.add(stream, { ...config, ...start })
    logger.warn({ consumer: name, from_seq: Math.max(fromSeq, state.first_seq) }, 'consumer.made-again')
  }

  /** Null where the stream has no message of that sequence. */
  async function positionAt(manager: JetStreamManager, seq: number): Promise<ConsumerPosition | null> {
    if (seq < 1) return null
    const [{ created }, message] = await Promise.all([
      manager.streams.info(stream),
      manager.streams.getMessage(stream, { seq }),
    ])
    return message === null ? null : { stream, streamCreated: created, seq, messageAt: message.timestamp }
  }

  const poll = startPoll({
    ...{ event: 'consumer.not-watched', level: 'warn', everyMs: lookEveryMs, logger },
    work: look,
  })
  return {
    isStalled: stall.isStalled,
    stalledMs: stall.stalledMs,
    pending: () => pending,
    look,
    stop: poll.stop,
  }
}

/** Judges, look by look, for how long messages have waited of which none was acknowledged. */
export function createStallWatch(nowMs: () => number) {
  let floor: number | null = null
  let sinceMs: number | null = null
  const stalledMs = () => (sinceMs === null ? 0 : nowMs() - sinceMs)
  return {
    saw({ acknowledged, waiting }: { acknowledged: number; waiting: boolean }): void {
      if (!waiting) sinceMs = null
      else if (acknowledged !== floor) sinceMs = nowMs()
      else sinceMs ??= nowMs()
      floor = acknowledged
    },
    /** Nothing is known at the moment: the wait begins again. */
    lost(): void {
      sinceMs = null
    },
    stalledMs,
    isStalled: (): boolean => stalledMs() >= stalledAfterMs,
  }
}
