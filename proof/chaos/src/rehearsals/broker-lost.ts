import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import { startNatsCluster } from '@pitboss/testing/start-nats-cluster'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { brokerPid, killBroker } from '../faults/broker-process.ts'
import { mountSmallDisk } from '../faults/small-disk.ts'
import { createOperatorClient, untilStatus } from '../operator-client.ts'
import { type Answer, send } from '../send.ts'
import { allIsWell, booksOf, openWorld, servedAgain, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const playMs = 8000
const lostMs = 20_000
const fullMs = 20_000
const backWithinMs = 30_000
const smallDiskMb = 96
const brokerStatus = z.looseObject({
  engines: z.looseObject({ nats: z.looseObject({ version: z.string() }) }),
})

/** One of three brokers is killed again and again, as a node that is lost and does not come back. */
export const brokerNode: Rehearsal = {
  about: 'one node of a NATS cluster of three is lost for 20 s under load, streams with three replicas',
  success: 'a node of the cluster was lost, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const cluster = await startNatsCluster({ dataDir: join(folder, 'cluster'), accounts: natsAccounts })
    cleanup.add(() => cluster.stop())
    const [first] = cluster.servers
    if (first === undefined) throw new Error('the cluster has no server')
    const { monitorUrl, version } = first
    const nats = {
      ...{ url: cluster.url, kind: 'external' as const, version, reason: 'three servers of this rehearsal' },
      ...{ monitorUrl, seeds: cluster.seeds, replicas: cluster.servers.length },
    }
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach, engines: { nats } })
    const delivered = watchDeliveries(world.demo)
    const { clients } = world
    return {
      clients,
      steps: [
        allIsWell(world, delivered, 'all three nodes are there'),
        ...cluster.servers.map((server, index) => ({
          name: `node ${index + 1} is lost for ${lostMs / 1000} s`,
          run: async () => {
            // While a win is owed, its player begins no other round of that game.
            clients.mayRefuse('ROUND_IN_PROGRESS')
            const pid = server.pid()
            process.kill(pid, 'SIGSTOP')
            try {
              await clients.playFor(lostMs)
            } finally {
              process.kill(pid, 'SIGKILL')
            }
            return delivered()
          },
        })),
        booksOf(world),
      ],
    }
  },
}

/** The broker's files are gone: every stream, consumer and bucket. */
export const brokerData: Rehearsal = {
  about: 'the broker loses all its files while the database is whole',
  success: 'the broker lost its files, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    const { clients, ops, since } = world
    const revoked = await revokedToken(world)
    const delivered = watchDeliveries(world.demo)
    return {
      clients,
      steps: [
        allIsWell(world, delivered),
        {
          name: 'the files of the broker are lost',
          playIsOff: true,
          run: async () => {
            await loseFiles(world)
            return 'the broker runs again, and has nothing'
          },
        },
        {
          name: 'ops topology apply',
          run: async () => {
            await ops(
              'topology',
              'apply',
              '--replicas',
              '1',
              '--yes',
              '--reason',
              'the broker lost its files',
            )
            const served = await servedAgain(world)
            const { body } = await revoked()
            if (body.code !== 'INVALID_CREDENTIALS')
              throw new Error(`a token of a key that was revoked before: ${JSON.stringify(body)}`)
            return [served, 'a token of a key that was revoked before is refused', await delivered()]
          },
        },
        {
          name: 'ops event audit: what has no recorded event',
          run: async () => {
            await clients.playFor(playMs)
            const { rounds, missing } = auditReply.parse(await ops('event', 'audit', '--from', since))
            return `${rounds} rounds looked at, ${missing.length} events missing`
          },
        },
        booksOf(world),
      ],
    }
  },
}

const auditReply = z.looseObject({ rounds: z.number(), missing: z.array(z.unknown()) })

/** A broker whose disk is full takes no event; play and settlement go on, and events follow. */
export const brokerDisk: Rehearsal = {
  about: 'the disk of the broker is full for 20 s (Linux, root: the disk is made in memory)',
  success: 'the disk of the broker was full, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const data = join(folder, 'data', 'nats')
    mkdirSync(data, { recursive: true, mode: 0o755 })
    const disk = mountSmallDisk(join(data, 'nats'), smallDiskMb)
    cleanup.add(async () => disk.unmount())
    // A broker reserves what its stream may hold.
    const environment = { PITBOSS_EVENTS_MAX_MB: String(smallDiskMb / 2) }
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach, environment })
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
            disk.fill()
            await clients.playFor(fullMs)
            return delivered()
          },
        },
        {
          name: 'there is room again, and the broker is started anew, as it has to be',
          run: async () => {
            disk.clear()
            await restartBroker(world)
            await clients.playOn()
            await clients.playFor(playMs)
            return delivered()
          },
        },
        booksOf(world),
      ],
    }
  },
}

/** Makes a key, and revokes it. @returns a request with a token that it has minted before */
async function revokedToken({ demo }: Pick<World, 'demo'>): Promise<() => Promise<Answer>> {
  const { base_url: base, dashboard } = demo()
  const { email, password } = dashboard
  const signedIn = await untilStatus(200, () =>
    send('POST', `${base}/v1/dashboard/login`, { body: { email, password } }),
  )
  const token = String(signedIn.body.access_token)
  const keys = `${base}/v1/dashboard/credentials`
  const body = { name: 'to be revoked', environment: 'TEST', scopes: [], ip_allowlist: [] }
  const made = await untilStatus(201, () => send('POST', keys, { token, body }))
  const { api_key, api_secret } = made.body
  const operator = await createOperatorClient(demo(), {
    api_key: String(api_key),
    api_secret: String(api_secret),
  })
  await untilStatus(200, () => operator.call('GET', '/games'))
  await untilStatus(200, () => send('POST', `${keys}/${String(api_key)}/revoke`, { token }))
  const ask = () => operator.call('GET', '/games')
  await untilStatus(401, ask)
  return ask
}

/** Takes the files from a broker that stands still, and kills it: it is started on an empty folder. */
async function loseFiles(world: World): Promise<void> {
  const stored = join(world.dataDir, 'nats', 'nats', 'jetstream')
  process.kill(brokerPid(world), 'SIGSTOP')
  renameSync(stored, `${stored}-lost`)
  await restartBroker(world)
}

/** Kills the broker and waits until the one in its place answers. */
async function restartBroker(world: World): Promise<void> {
  await killBroker(world, backWithinMs)
  await waitFor(async () => brokerStatus.safeParse(await world.ops('status')).success, {
    ...{ timeoutMs: backWithinMs, what: 'the broker to answer' },
  })
}
