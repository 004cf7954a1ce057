import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { roundsMovements } from '@pitboss/bus/topology'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { isWithin, type RewindStore } from '@pitboss/storage/rewind-store'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { RoundActor } from '../actors/round-actor.ts'
import { owesSomething } from '../domain/round.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { AttendRound } from '../workers/attend-round.ts'

export const movementsStream = roundsMovements.stream
export const movementsConsumer = roundsMovements.config.durable_name ?? ''
const batchMax = 64

/**
 * A round changed within this time has somebody at work on it, or is the sweeper's within seconds. Less than the second after which a
 * movement is tried again: nobody waits for what ends then.
 */
const freshMs = 800

/** All that is read of a movement's event: it is a hint, wallet-bridge is asked for the truth. */
const hintSchema = z.object({ data: z.object({ round_id: z.string() }) })

type MovementsDeps = {
  bus: Bus
  rounds: Pick<RoundsStore, 'findAnywhere'>
  actor: Pick<RoundActor, 'changedAt'>
  attend: AttendRound
  rewinds: Pick<RewindStore, 'open' | 'count'>
  clock: Clock
  logger: Logger
}

/**
 * Hears of movements that ended later than the call that began them. Replaying it changes nothing that is right already; without it
 * (JetStream down) the sweeper does the same a little later. What rewinds see again is counted before it is acknowledged.
 */
export function consumeMovements({ bus, rounds, actor, attend, rewinds, clock, logger }: MovementsDeps): {
  stop(): Promise<void>
} {
  const isFresh = (at: Date) => clock.now().getTime() - at.getTime() < freshMs

  async function hear(message: DurableMessage): Promise<HandledMessage['result']> {
    const hint = hintSchema.safeParse(parseJson(message.data))
    if (!hint.success) {
      logger.error({ seq: message.seq, subject: message.subject }, 'movement-event.unreadable')
      return 'parked'
    }
    const { round_id: roundId } = hint.data.data
    const before = actor.changedAt(roundId)
    if (before !== null && isFresh(before)) return 'unchanged'
    const stored = await rounds.findAnywhere(roundId)
    if (stored === null || !owesSomething(stored.round) || isFresh(stored.round.updatedAt)) return 'unchanged'
    const claimed = await attend(stored)
    const after = actor.changedAt(roundId)
    return claimed && after?.getTime() !== before?.getTime() ? 'repaired' : 'unchanged'
  }

  return consumeDurable({
    bus,
    stream: movementsStream,
    consumer: movementsConsumer,
    batchMax,
    logger,
    async handle(messages) {
      const open = await rewinds.open()
      const again: { message: DurableMessage; result: HandledMessage['result'] }[] = []
      const results = await Promise.allSettled(
        messages.map(async (message) => {
          const result = await hear(message)
          if (open.some((rewind) => isWithin(rewind, message.seq))) again.push({ message, result })
          else message.ack()
        }),
      )
      await rewinds.count(
        open,
        again.map(({ message: { seq }, result }) => ({ seq, result })),
      )
      if (again.length > 0) await failpoint('rounds.rewind-counted')
      for (const { message } of again) message.ack()
      const failed = results.find((result) => result.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  })
}

function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString('utf8'))
  } catch {
    return null
  }
}
