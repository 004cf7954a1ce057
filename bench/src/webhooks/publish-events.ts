import { randomUUID } from 'node:crypto'
import { connectBus } from '@pitboss/bus/connect-bus'
import { newId } from '@pitboss/runtime/new-id'
import { outboxEntry } from '@pitboss/storage/outbox-entry'
import pino from 'pino'

export type Publisher = {
  /** Publishes one event as a service's outbox does. @returns its id and when the stream acknowledged it. */
  publish(): Promise<{ id: string; atMs: number }>
  close(): Promise<void>
}

/** Events of sessions that never were, for the demo operator. */
export async function createPublisher(natsUrl: string, operatorId: string): Promise<Publisher> {
  const logger = pino({ level: 'warn' }, pino.destination(2))
  const bus = await connectBus({ url: natsUrl, service: 'bench', logger })
  const scope = { operatorId, environment: 'SANDBOX' } as const
  return {
    async publish() {
      const createdAt = new Date()
      const { id, subject, body } = outboxEntry({
        id: newId('evt'),
        type: 'game.session.created',
        createdAt,
        scope,
        data: {
          session_id: newId('ses'),
          game: 'dice',
          player_id: `player-${randomUUID()}`,
          currency: 'USD',
          brand: null,
          expires_at: new Date(createdAt.getTime() + 3_600_000).toISOString(),
        },
      })
      await bus.publishEvent({ id, subject, payload: Buffer.from(body) })
      return { id, atMs: performance.now() }
    },
    close: () => bus.close(),
  }
}
