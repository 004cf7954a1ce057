import { randomUUID } from 'node:crypto'
import { connectBus } from '@pitboss/bus/connect-bus'
import { newId } from '@pitboss/runtime/new-id'
import { type RenderedEvent, renderEvent } from '@pitboss/storage/rendered-event'
import pino from 'pino'

export type Publisher = {
  /** Publishes one event as a service's journal does. @returns its id and when the stream acknowledged it. */
  publish(operatorId?: string): Promise<{ id: string; atMs: number }>
  close(): Promise<void>
}

/** Invented events of sessions, for `operatorId` by default. */
export async function createPublisher(natsUrl: string, operatorId: string): Promise<Publisher> {
  const logger = pino({ level: 'warn' }, pino.destination(2))
  const bus = await connectBus({ url: natsUrl, service: 'bench', logger })
  return {
    async publish(of = operatorId) {
      const { id, subject, body } = sessionEvent(of, new Date())
      await bus.publishEvent({ id, subject, payload: Buffer.from(body) })
      return { id, atMs: performance.now() }
    },
    close: () => bus.close(),
  }
}

/** An event of a session that never was. */
export function sessionEvent(operatorId: string, createdAt: Date): RenderedEvent {
  return renderEvent({
    id: newId('evt'),
    type: 'game.session.created',
    createdAt,
    scope: { operatorId, environment: 'SANDBOX' },
    data: {
      session_id: newId('ses'),
      game: 'dice',
      player_id: `player-${randomUUID()}`,
      currency: 'USD',
      brand: null,
      expires_at: new Date(createdAt.getTime() + 3_600_000).toISOString(),
    },
  })
}
