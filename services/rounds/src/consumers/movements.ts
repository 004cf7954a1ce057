import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { roundsMovements } from '@pitboss/bus/topology'
import { failpoint } from '@pitboss/runtime/failpoint'
import { isWithin, type RewindStore } from '@pitboss/storage/rewind-store'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { HearMovement } from '../actions/late-movement.ts'

export const movementsStream = roundsMovements.stream
export const movementsConsumer = roundsMovements.config.durable_name ?? ''
const batchMax = 64

/** All that is read of a movement's event: it is a hint, wallet-bridge is asked for the truth. */
const hintSchema = z.object({ data: z.object({ round_id: z.string() }) })

type MovementsDeps = {
  bus: Bus
  hear: HearMovement
  rewinds: Pick<RewindStore, 'open' | 'count'>
  logger: Logger
}

/**
 * Hears of movements that ended later than the call that began them. Replaying it changes nothing that is right already; without it
 * (JetStream down) the sweeper does the same a little later. What rewinds see again is counted before it is acknowledged.
 */
export function consumeMovements({ bus, hear, rewinds, logger }: MovementsDeps): {
  stop(): Promise<void>
} {
  async function handleMessage(message: DurableMessage): Promise<HandledMessage['result']> {
    const hint = hintSchema.safeParse(parseJson(message.data))
    if (!hint.success) {
      logger.error({ seq: message.seq, subject: message.subject }, 'movement-event.unreadable')
      return 'parked'
    }
    return hear(hint.data.data.round_id)
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
          const result = await handleMessage(message)
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
