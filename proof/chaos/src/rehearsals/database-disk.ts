import { join } from 'node:path'
import { mountSmallDisk } from '../faults/small-disk.ts'
import { allIsWell, booksOf, openWorld, servedAgain, twoOfEach } from './open-world.ts'
import type { Rehearsal } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const fullMs = 30_000
/** The files of an empty database take a third of it. */
const smallDiskMb = 512

/**
 * A database whose disk is full writes nothing: PostgreSQL refuses single writes, and ends when its log has
 * no room. What it had acknowledged is there when there is room again.
 */
export const databaseDisk: Rehearsal = {
  about: 'the disk of PostgreSQL is full for 30 s (Linux, root: the disk is made in memory)',
  success: 'the disk of the database was full, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const disk = mountSmallDisk(join(folder, 'data', 'mongodb', 'documentdb'), smallDiskMb)
    cleanup.add(async () => disk.unmount())
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    if (world.demo().engines.mongodb.kind !== 'documentdb')
      throw new Error(
        'this is a rehearsal of the embedded database; MONGODB_URL and MONGOD_BIN must not be set',
      )
    const { clients } = world
    const delivered = watchDeliveries(world.demo)
    return {
      clients,
      steps: [
        allIsWell(world, delivered),
        {
          name: `the disk is full for ${fullMs / 1000} s`,
          playIsOff: true,
          run: async () => {
            // While a win is owed, its player begins no other round of that game.
            clients.mayRefuse('ROUND_IN_PROGRESS')
            disk.fill()
            await clients.playFor(fullMs)
            return delivered()
          },
        },
        {
          name: 'there is room again; nothing is started by hand',
          run: async () => {
            disk.clear()
            return [await servedAgain(world), await delivered()]
          },
        },
        booksOf(world),
      ],
    }
  },
}
