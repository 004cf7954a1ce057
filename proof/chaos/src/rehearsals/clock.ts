import { startServiceLinks } from '../network/service-links.ts'
import { booksOf, openWorld, twoOfEach } from './open-world.ts'
import type { Rehearsal } from './rehearsal.ts'

const hourMs = 60 * 60 * 1000
const offMs = 8000
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks']

/** The clock of one replica of each service that has a database jumps an hour ahead, then an hour back. */
export const clock: Rehearsal = {
  about: 'the clock of one replica jumps by an hour, ahead and back, service by service',
  success: 'clocks jumped, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const links = await startServiceLinks()
    cleanup.add(() => links.close())
    const world = await openWorld(folder, cleanup, {
      replicas: twoOfEach,
      environment: links.environment,
    })
    const { clients } = world
    const step = (service: string, sign: 1 | -1) => ({
      name: `a replica of ${service} is an hour ${sign > 0 ? 'ahead' : 'behind'} for ${offMs / 1000} s`,
      run: async () => {
        const link = links.all().find((one) => one.service === service)
        if (link === undefined) throw new Error(`there is no replica of ${service}`)
        link.setClock(sign * hourMs)
        try {
          await clients.playFor(offMs)
          const { status } = await fetch(`http://127.0.0.1:${link.probePort}/readyz`)
          return status === 200 ? 'it says that it is ready' : `it says that it is not ready (${status})`
        } finally {
          link.setClock(0)
        }
      },
    })
    return {
      clients,
      steps: [...services.flatMap((service) => [step(service, 1), step(service, -1)]), booksOf(world)],
    }
  },
}
