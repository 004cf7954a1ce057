import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { roundsMovements } from '@pitboss/bus/topology'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { RoundActor } from '../actors/round-actor.ts'
import { owesSomething } from '../domain/round.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { AttendRound } from '../workers/attend-round.ts'

const batchMax = 64

/** A round changed within this time has somebody at work on it, or is the sweeper's within seconds. */
const freshMs = 2000

/** All that is read of a movement's event: it is a hint, wallet-bridge is asked for the truth. */
const hintSchema = z.object({ data: z.object({ round_id: z.string() }) })

type MovementsDeps = {
  bus: Bus
  rounds: RoundsStore
  actor: RoundActor
  attend: AttendRound
  clock: Clock
  logger: Logger
}

/**
 * Hears of movements that ended later than the call that began them. Replaying it changes nothing that is right already; without it
 * (JetStream down) the sweeper does the same a little later.
 */
export function consumeMovements({ bus, rounds, actor, attend, clock, logger }: MovementsDeps): {
  stop(): Promise<void>
} {
  async function handle(message: DurableMessage): Promise<void> {
    const hint = hintSchema.safeParse(parseJson(message.data))
    if (!hint.success) {
      logger.error({ seq: message.seq, subject: message.subject }, 'movement-event.unreadable')
      message.ack()
      return
    }
    const { round_id: roundId } = hint.data.data
    const changedAt = actor.changedAt(roundId)
    if (changedAt === null || !isFresh(changedAt)) {
      const stored = await rounds.findAnywhere(roundId)
      if (stored !== null && owesSomething(stored.round) && !isFresh(stored.round.updatedAt)) {
        await attend(stored)
      }
    }
    message.ack()
  }

  const isFresh = (at: Date) => clock.now().getTime() - at.getTime() < freshMs

  return consumeDurable({
    bus,
    stream: roundsMovements.stream,
    consumer: roundsMovements.config.durable_name ?? '',
    batchMax,
    logger,
    async handle(messages) {
      const results = await Promise.allSettled(messages.map(handle))
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
