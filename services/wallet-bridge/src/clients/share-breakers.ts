import type { Bus } from '@pitboss/bus/connect-bus'
import { z } from 'zod'
import { type BreakerNote, breakerNotes } from './breakers.ts'

export const breakersSubject = 'wb.breakers.v1'

const message = z.strictObject({
  from: z.string().max(64),
  wallet: z.string().max(64),
  news: z.enum(breakerNotes),
})

/**
 * Sends notes about wallets between the replicas over core NATS, each at most once. A replica that is away
 * misses them.
 */
export function shareBreakers({ bus, replicaId }: { bus: Bus; replicaId: string }): {
  notify(note: BreakerNote): void
  listen(receive: (note: BreakerNote) => void): { unsubscribe(): void }
} {
  return {
    notify: (note) =>
      bus.publish(breakersSubject, new TextEncoder().encode(JSON.stringify({ from: replicaId, ...note }))),
    listen: (receive) =>
      bus.subscribe(breakersSubject, ({ data }) => {
        const { from, ...note } = message.parse(JSON.parse(new TextDecoder().decode(data)))
        if (from !== replicaId) receive(note)
      }),
  }
}
