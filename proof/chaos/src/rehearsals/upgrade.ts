import type { OtherReplica } from '@pitboss/stack/stack-services'
import { openMixture, order, replace } from './older-build.ts'
import { booksOf, openWorld, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'

const mixtureMs = 20_000

/** Every replica of every service gives way to a new one, one after the other, as a roll-out does it. */
export const upgrade: Rehearsal = {
  about: 'a rolling upgrade of every service, each new replica before the old one drains',
  success: 'every replica was replaced, and no client lost a request',
  async open(folder, cleanup, { from }) {
    if (from !== null) return openFrom(from, folder, cleanup)
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    return { clients: world.clients, steps: [...rolls(world, {}), booksOf(world)] }
  },
}

/** An older build beside this one, then alone, then upgraded. */
async function openFrom(
  from: string,
  folder: string,
  cleanup: Parameters<Rehearsal['open']>[1],
): ReturnType<Rehearsal['open']> {
  const { world, older, newer, isBridged, ofThisBuild } = await openMixture(from, folder, cleanup)
  return {
    clients: world.clients,
    steps: [
      {
        name: `one replica of each service is of this build, one of ${from}`,
        async run() {
          await world.clients.playFor(mixtureMs)
          return `the demo played on the mixture: every check passed; clients play for ${mixtureMs / 1000} s`
        },
      },
      ...[...order].reverse().map((name) => ({
        name: `${name} goes back to ${from}, as after an upgrade that failed`,
        run: () => replace(world.stack, name, [ofThisBuild], older),
      })),
      ...rolls(world, newer),
      ...(isBridged ? rolls(world, {}) : []),
      booksOf(world),
    ],
  }
}

function rolls(world: World, other: OtherReplica): Step[] {
  const how = other.environment === undefined ? '' : ', which still serves the older build'
  return order.map((name) => ({
    name: `${name}: twice a new replica${how} starts, then an old one drains`,
    run: () => replace(world.stack, name, world.replicasOf(name), other),
  }))
}
