import { readMetric } from '@pitboss/bench/harness/read-metric'
import { openMixture, order } from './older-build.ts'
import { booksOf, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'

const playMs = 30_000

/**
 * Counts of work that builds have had from the first, by service. Others show their processor time: the
 * deliveries to an endpoint are one replica's, so one of two may have none.
 */
const counted: Readonly<Record<string, { metric: string; words: string }>> = {
  gateway: { metric: 'pitboss_http_request_seconds_count', words: 'requests' },
  'wallet-bridge': { metric: 'pitboss_wallet_calls_total', words: 'wallet calls' },
}
const processorTime = { metric: 'process_cpu_seconds_total', words: 's of processor time' }

/** Both builds serve at once, each with a replica of every service; in the end the books are compared. */
export const versions: Rehearsal = {
  about: 'an older build and this one side by side, a replica of each service of both; with --from COMMIT',
  success: 'both builds served, and the books balance',
  async open(folder, cleanup, { from }) {
    if (from === null) throw new Error('versions needs --from COMMIT: the older build')
    const { world, ofThisBuild } = await openMixture(from, folder, cleanup)
    return {
      clients: world.clients,
      steps: [
        playedBeside(world, from, ofThisBuild),
        ...[...order].reverse().map((name) => alone(world, name, ofThisBuild)),
        booksOf(world),
      ],
    }
  },
}

/** Clients play on both; each replica must have done some of the work that its service counts. */
function playedBeside(world: World, from: string, ofThisBuild: number): Step {
  return {
    name: `clients play while one replica of each service is of this build and one of ${from}`,
    async run() {
      const before = await workOf(world)
      await world.clients.playFor(playMs)
      const after = await workOf(world)
      const lines: string[] = []
      for (const [key, { name, replica, count, words }] of after) {
        const done = count - (before.get(key)?.count ?? 0)
        const build = replica === ofThisBuild ? 'this build' : from
        lines.push(`${name}, ${build}: ${Math.round(done * 100) / 100} ${words}`)
        if (done <= 0) throw new Error(`${name} of ${build} did nothing:\n${lines.join('\n')}`)
      }
      return lines
    },
  }
}

/** What this build began, the older one must carry on alone: no lock, lease or document may be in its way. */
function alone(world: World, name: (typeof order)[number], ofThisBuild: number): Step {
  return {
    name: `${name} of this build ends; the older one carries on what it began`,
    async run() {
      await world.stack.removeReplica(name, ofThisBuild)
      return `${world.replicasOf(name).length} replica of ${name} is left`
    },
  }
}

async function workOf(world: World) {
  const found = new Map<string, { name: string; replica: number; count: number; words: string }>()
  for (const { name, replica, http_url: url } of world.demo().processes) {
    if (url === undefined || !order.some((service) => service === name)) continue
    const { metric, words } = counted[name] ?? processorTime
    const count = (await readMetric(url, metric)).reduce((sum, value) => sum + value, 0)
    found.set(`${name}/${replica}`, { name, replica, count, words })
  }
  return found
}
