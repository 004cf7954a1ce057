import { setTimeout as delay } from 'node:timers/promises'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { workloads } from '../compare/workloads.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { renderTable } from '../harness/table.ts'
import { until } from '../harness/until.ts'

/** Services, and the goal in milliseconds. Without auth and webhooks play goes on; they count when ready. */
const goals = { rounds: 3000, 'wallet-bridge': 2000, gateway: 2000, auth: 2000, webhooks: 2000 } as const
type Service = keyof typeof goals
const players = 40
const everyMs = 50
const recoversWithinMs = 60_000
/** A request that was at the killed process ends by its own time-out. */
const calmMs = 20_000

/**
 * Kills each service with SIGKILL, `turns` times, and measures when the first round of any of 40 players is
 * played again; the runner starts the process anew.
 */
export async function runRecovery(
  turns: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const { engines, product, http } = await createProductWorld({
    ...{ name: 'recovery', connections: (2 * recoversWithinMs) / everyMs, cleanup, say },
  })
  const play = await workloads.round(http, product.demo())
  for (let player = 0; player < players; player++) await play(player)
  const seen = new Map<Service, number[]>()
  for (let turn = 0; turn < turns; turn++) {
    for (const service of services()) {
      const pid = pidOf(product.demo(), service)
      process.kill(pid, 'SIGKILL')
      const killedAtMs = performance.now()
      await (isForPlay(service) ? untilPlayed(play) : untilReady(product.demo, service, pid))
      const ms = performance.now() - killedAtMs
      say(`${service}: ${ms.toFixed(0)} ms`)
      seen.set(service, [...(seen.get(service) ?? []), ms])
      await delay(calmMs)
    }
  }
  const rows = services().map((service) => {
    const all = (seen.get(service) ?? []).toSorted((a, b) => a - b)
    const cells = [all[0], all[Math.floor(all.length / 2)], all.at(-1)].map((ms) => (ms ?? 0).toFixed(0))
    return [service, isForPlay(service) ? 'plays' : 'ready', ...cells, String(goals[service])]
  })
  return {
    result: { engines: engines.kinds, seen: Object.fromEntries(seen) },
    text: renderTable(['killed', 'again it', 'least ms', 'median ms', 'most ms', 'goal ms'], rows),
  }
}

const services = () => ['rounds', 'wallet-bridge', 'gateway', 'auth', 'webhooks'] as const
const isForPlay = (service: Service) => service !== 'auth' && service !== 'webhooks'

/** A new round every 50 ms, each by another player: one that waits for the dead process holds up no other. */
async function untilPlayed(play: (player: number) => Promise<void>): Promise<void> {
  let isOver = false
  const { promise, resolve } = Promise.withResolvers<void>()
  for (let count = 0; !isOver; count++) {
    if (count * everyMs > recoversWithinMs) throw new Error('nobody plays again')
    play(count % players).then(resolve, () => undefined)
    isOver = await Promise.race([promise.then(() => true), delay(everyMs, false)])
  }
}

function untilReady(demo: () => DemoFile, service: Service, killed: number): Promise<void> {
  return until(
    `${service} to be ready again`,
    async () => {
      const found = demo().processes.find(({ name }) => name === service)
      if (found === undefined || found.pid === null || found.pid === killed) return false
      return fetch(`${found.http_url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    },
    { withinMs: recoversWithinMs },
  )
}

function pidOf({ processes }: DemoFile, service: Service): number {
  const pid = processes.find(({ name }) => name === service)?.pid
  if (typeof pid !== 'number') throw new Error(`${service} does not run`)
  return pid
}
