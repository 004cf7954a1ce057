import { findEngines } from '../faults/find-processes.ts'
import { allIsWell, booksOf, openWorld, servedAgain, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const awayMs = 60_000

/**
 * A minute in which an engine takes every request and answers none, which is worse for its clients than one
 * that refuses connections.
 */
function engineAway(what: string, isIts: (process: string) => boolean): Rehearsal {
  return {
    about: `${what} stands still for a minute under load`,
    success: `${what} was away for a minute, and nothing was lost or doubled`,
    async open(folder, cleanup) {
      const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
      const { clients } = world
      const delivered = watchDeliveries(world.demo)
      return {
        clients,
        steps: [
          allIsWell(world, delivered),
          {
            name: `${what} stands still for ${awayMs / 1000} s`,
            playIsOff: true,
            run: async () => {
              const stopped = await standStill(world, isIts, () => clients.playFor(awayMs))
              return `stopped and let go on: ${stopped.join(', ')}`
            },
          },
          {
            name: `${what} is back`,
            run: async () => [await servedAgain(world), await delivered()],
          },
          booksOf(world),
        ],
      }
    },
  }
}

/** Stops the engine's processes while `meanwhile` runs; they go on whatever happens. Answers their names. */
async function standStill(
  { dataDir }: Pick<World, 'dataDir'>,
  isIts: (process: string) => boolean,
  meanwhile: () => Promise<void>,
): Promise<string[]> {
  const targets = findEngines({ dataDir }).filter(({ name }) => isIts(name))
  if (targets.length === 0) throw new Error('the engine has no process')
  for (const { pid } of targets) process.kill(pid, 'SIGSTOP')
  try {
    await meanwhile()
  } finally {
    for (const { pid } of targets) process.kill(pid, 'SIGCONT')
  }
  return targets.map(({ name }) => name)
}

/** PostgreSQL stays: the gateway is what speaks with the services. */
const databases = ['documentdb-gateway', 'mongod']

export const databaseAway = engineAway('the database', (name) => databases.includes(name))
export const brokerAway = engineAway('the broker', (name) => name === 'nats-server')
