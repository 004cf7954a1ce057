import type { Bus } from '@pitboss/bus/connect-bus'
import { z } from 'zod'
import { type BreakerNote, breakerNews } from './breakers.ts'

export const breakersSubject = 'wb.breakers.v1'

const message = z.strictObject({
  from: z.string().max(64),
  wallet: z.string().max(64),
  news: z.enum(breakerNews),
})

/** Carries notes about wallets between the replicas over core NATS, each at most once and to none that is away. */
export function shareBreakers({ bus, replicaId }: { bus: Bus; replicaId: string }): {
  tell(note: BreakerNote): void
  listen(hear: (note: BreakerNote) => void): { unsubscribe(): void }
} {
  return {
    tell: (note) =>
      bus.publish(breakersSubject, new TextEncoder().encode(JSON.stringify({ from: replicaId, ...note }))),
    listen: (hear) =>
      bus.subscribe(breakersSubject, ({ data }) => {
        const { from, ...note } = message.parse(JSON.parse(new TextDecoder().decode(data)))
        if (from !== replicaId) hear(note)
      }),
  }
}
