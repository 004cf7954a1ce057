import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import { raisedLimits } from '@pitboss/bench/harness/raised-limits'
import { freePort } from '@pitboss/engines/processes/free-port'
import { type DemoFile, requireDemoFile } from '@pitboss/stack/demo-file'
import { createLogOutput } from '@pitboss/stack/logs/log-output'
import { readStackOptions, type ServiceName } from '@pitboss/stack/stack-options'
import { type GivenEngines, type Stack, startStack } from '@pitboss/stack/start-stack'
import { createOperatorClient } from '@pitboss/testing/operator-client'
import { checkBooks } from '../../../../tools/stack/test/fixtures/check-books.ts'
import { type ClientsAtWork, startClients } from './clients-at-work.ts'
import { orderOps } from './order-ops.ts'
import { type Seats, takeSeats } from './seats.ts'

/** A running product, one process for each pod, with clients at work on it. */
export type World = {
  readonly dataDir: string
  /** The time before which nothing of this rehearsal happened. */
  readonly since: string
  readonly stack: Stack
  readonly clients: ClientsAtWork
  readonly seats: Seats
  /** `demo.json` as it is now; it follows restarts. */
  demo(): DemoFile
  /** The replicas of a service that run now. */
  replicasOf(name: ServiceName): number[]
  ops(...flags: string[]): Promise<unknown>
  /**
   * Ends the clients' work and compares rounds, movements, the wallet, events and deliveries, of the whole
   * rehearsal or of its last part. @throws Error
   */
  balance(part?: { since: string; ledgerAfter: number }): Promise<string>
}

/** Of every service, as in deploy/k8s. */
export const twoOfEach = 'gateway=2,auth=2,rounds=2,wallet-bridge=2,webhooks=2'
const wellForMs = 8000
const booksWithinMs = 180_000

/**
 * Starts the product in this process, so that replicas can be added and taken away, and eight clients.
 */
export async function openWorld(
  folder: string,
  cleanup: Cleanup,
  {
    replicas,
    engines = {},
    environment = {},
    started = async () => undefined,
  }: {
    replicas: string
    engines?: GivenEngines
    environment?: NodeJS.ProcessEnv
    /** Runs before clients begin. */
    started?: (stack: Stack) => Promise<void>
  },
): Promise<World> {
  Object.assign(process.env, raisedLimits, { PITBOSS_LOG_LEVEL: 'warn' }, environment)
  const log = createWriteStream(join(folder, 'product.log'))
  const output = createLogOutput({ format: 'json', write: (line) => log.write(`${line}\n`) })
  const flags = [
    '--port',
    String(await freePort()),
    '--data-dir',
    join(folder, 'data'),
    '--replicas',
    replicas,
  ]
  const options = readStackOptions([...flags, '--log', 'json'], process.env, false)
  const stack = await startStack(options, output, new AbortController().signal, engines)
  cleanup.add(() => stack.stop())
  await started(stack)
  const since = new Date().toISOString()
  const { dataDir } = stack
  const demo = () => requireDemoFile(dataDir)
  const seats = await takeSeats(demo())
  const clients = startClients(seats.all)
  return {
    ...{ dataDir, since, stack, clients, seats, demo },
    replicasOf: (name) =>
      demo()
        .processes.filter((one) => one.name === name)
        .map(({ replica }) => replica),
    ops: (...order) => orderOps(dataDir, ...order),
    async balance(part = { since, ledgerAfter: 0 }) {
      await clients.end()
      const operator = await createOperatorClient(demo())
      const wrong = await checkBooks(demo(), operator, part.since, {
        withinMs: booksWithinMs,
        ledgerAfter: part.ledgerAfter,
      })
      if (wrong.length > 0) throw new Error(wrong.slice(0, 20).join('\n'))
      const rounds = await operator.all(`/rounds?from=${encodeURIComponent(part.since)}`)
      return `${rounds.length} rounds: movements, the wallet, events and deliveries say the same; nothing is lost or doubled`
    },
  }
}

/** The last step of most rehearsals. `since`: of what went before the world was opened, too. */
export function booksOf(world: World, since = world.since) {
  return { name: 'the books', run: () => world.balance({ since, ledgerAfter: 0 }) }
}

/** The first step of rehearsals of engines: what deliveries look like while nothing is wrong. */
export function allIsWell(
  { clients }: Pick<World, 'clients'>,
  delivered: () => Promise<string>,
  name = 'all is well',
) {
  return {
    name,
    run: async () => {
      await clients.playFor(wellForMs)
      return delivered()
    },
  }
}

/** Waits until every client has been served again. @returns how long it took, in words */
export async function servedAgain({ clients }: Pick<World, 'clients'>): Promise<string> {
  const fromMs = performance.now()
  await clients.playOn()
  return `every client was served six times again within ${Math.round(performance.now() - fromMs)} ms`
}
