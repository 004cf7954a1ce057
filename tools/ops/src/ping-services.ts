import type { Bus } from '@pitboss/bus/connect-bus'
import { z } from 'zod'

export const serviceNames = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
const listenMs = 500
const repliesMax = 200
const pong = z.looseObject({
  name: z.string(),
  id: z.string(),
  version: z.string(),
  metadata: z.looseObject({ clock_ahead_ms: z.coerce.number().optional() }).default({}),
})

export type ServiceRow = { name: string; replicas: number; versions: string; clock_ahead_ms: number | null }

/**
 * Every replica that answers within half a second, by name, with the largest difference between a replica's
 * clock and its database's.
 */
export async function pingServices(bus: Bus): Promise<ServiceRow[]> {
  const asked = serviceNames.map((name) => bus.collect(`$SRV.PING.${name}`, { listenMs, repliesMax }))
  const pongs = (await Promise.all(asked)).flat().flatMap((reply) => {
    const parsed = pong.safeParse(reply.json())
    return parsed.success ? [parsed.data] : []
  })
  return [...Map.groupBy(pongs, ({ name }) => name)]
    .map(([name, replicas]) => ({
      name,
      replicas: new Set(replicas.map(({ id }) => id)).size,
      versions: [...new Set(replicas.map(({ version }) => version))].join(', '),
      clock_ahead_ms: replicas
        .flatMap(({ metadata }) => metadata.clock_ahead_ms ?? [])
        .reduce((most: number | null, ms) => (Math.abs(ms) >= Math.abs(most ?? 0) ? ms : most), null),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
