import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable, type DurableMessage } from '@pitboss/bus/consume-durable'
import { roundsMovements } from '@pitboss/bus/topology'
import { parseJsonObject } from '@pitboss/contracts/json'
import { failpoint } from '@pitboss/runtime/failpoint'
import { inSpan } from '@pitboss/tracing/spans'
import { isWithin, type RewindStore } from '@pitboss/storage/rewind-store'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import { z } from 'zod'
import { handleLateMovement } from '../actions/recover-round.ts'
import type { PlayContext } from '../context.ts'

const batchMax = 64

/** A movement's event is only a hint: wallet-bridge is asked how the movement stands. */
const hintSchema = z.object({ data: z.object({ round_id: z.string() }) })

/**
 * Consumes events of movements that ended after the call that began them. While JetStream is down the sweeper
 * does the same. Messages of a rewind are counted before they are acknowledged.
 */
export function consumeMovements(context: PlayContext, bus: Bus, rewinds: RewindStore) {
  const { logger } = context
  async function handleMessage(message: DurableMessage): Promise<HandledMessage['result']> {
    const hint = hintSchema.safeParse(parseJsonObject(message.data))
    if (!hint.success) {
      logger.error({ seq: message.seq, subject: message.subject }, 'movement-event.unreadable')
      return 'parked'
    }
    return handleLateMovement(context, hint.data.data.round_id)
  }

  function traceMessage(message: DurableMessage): Promise<HandledMessage['result']> {
    const { traceparent, subject } = message
    if (traceparent === null) return handleMessage(message)
    const attributes = { 'messaging.system': 'nats', 'messaging.destination.name': subject }
    const options = { kind: 'consumer', parent: traceparent, attributes } as const
    return inSpan(`settle ${subject.split('.').slice(4).join('.')}`, options, () => handleMessage(message))
  }

  return consumeDurable({
    bus,
    stream: roundsMovements.stream,
    consumer: roundsMovements.config.durable_name ?? '',
    batchMax,
    logger,
    async handle(messages) {
      const open = await rewinds.open()
      const again: { message: DurableMessage; result: HandledMessage['result'] }[] = []
      const results = await Promise.allSettled(
        messages.map(async (message) => {
          const result = await traceMessage(message)
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
