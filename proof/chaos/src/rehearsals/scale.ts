import { booksOf, openWorld } from './open-world.ts'
import type { Rehearsal } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const playMs = 8000

/** Replicas of webhooks come and go while events are delivered. */
export const scale: Rehearsal = {
  about: 'webhooks from 1 to 4 to 2 replicas while events are delivered',
  success: 'webhooks grew and shrank, and every event was delivered',
  async open(folder, cleanup) {
    const world = await openWorld(folder, cleanup, { replicas: 'webhooks=1' })
    const { stack, clients } = world
    const seen = watchDeliveries(world.demo)
    const step = (name: string, change: () => Promise<unknown>) => ({
      name,
      run: async () => {
        await change()
        await clients.playFor(playMs)
        return `${world.replicasOf('webhooks').length} replicas: ${await seen()}`
      },
    })
    return {
      clients,
      steps: [
        step('webhooks with 1 replica', async () => undefined),
        step('webhooks from 1 to 4 replicas', async () => {
          for (let more = 0; more < 3; more++) await stack.addReplica('webhooks')
        }),
        step('webhooks from 4 to 2 replicas, the oldest first', async () => {
          for (const replica of world.replicasOf('webhooks').slice(0, 2))
            await stack.removeReplica('webhooks', replica)
        }),
        booksOf(world),
      ],
    }
  },
}
