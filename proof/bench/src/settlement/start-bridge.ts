import { randomUUID } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import { consumeDurable } from '@pitboss/bus/consume-durable'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import { webhooksFanout } from '@pitboss/bus/topology'
import { showStakeStanding } from '@pitboss/contracts/calls/rounds'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { putWallet } from '@pitboss/contracts/endpoints/wallet'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { StoredMovement } from '@pitboss/wallet-bridge/storage/listed-movements'
import type { Collection } from 'mongodb'
import pino from 'pino'
import type { Cleanup } from '../harness/cleanup.ts'
import { ownerOf } from '../harness/owner-of.ts'
import { createServiceWorld } from '../harness/service-world.ts'
import type { BenchEngines } from '../harness/start-engines.ts'
import { startServer } from '../harness/start-part.ts'
import { until } from '../harness/until.ts'
import type { WalletMood } from './wallet-mood.ts'

const walletTimeoutMs = 5000
/**
 * Seldom, so as not to be part of the load, and for long: what missed the recovery waits for its place on the
 * retry schedule.
 */
const resolvedWait = { everyMs: 200, withinMs: 600_000 } as const
const recordedAtOnce = 500

/** An operator whose wallet is registered. */
export type BridgeOperator = {
  scope: Scope
  walletUrl: string
  /** Tells the wallet how to behave from now on. */
  behave(mood: WalletMood): Promise<void>
  pending(): Promise<number>
  /** Waits until nothing of the operator is pending. */
  resolved(): Promise<void>
}

export type Bridge = {
  engines: BenchEngines
  bus: Bus
  walletUrl: string
  movements: Collection<StoredMovement>
  addOperator(name: string): Promise<BridgeOperator>
  /** Number of the events that are recorded so far. */
  recorded(): number
  /** Waits until every event is in the stream and recorded. */
  published(): Promise<void>
}

/** wallet-bridge as a process of its own on new engines, and a wallet beside it. */
export async function startBridge(cleanup: Cleanup): Promise<Bridge> {
  const { engines, bus, storage, startService } = await createServiceWorld({
    service: 'wallet-bridge',
    environment: { PITBOSS_ALLOW_LOOPBACK_WALLETS: 'yes' },
    cleanup,
  })
  const { part: wallet, url: walletUrl } = await startServer('settlement/wallet-main.ts', {}, cleanup)
  // In the place of rounds: what the wallet left open may be taken back.
  const rounds = await serveCalls({
    ...{ bus, service: 'rounds', version: '1', logger: pino({ level: 'silent' }) },
    handlers: [handler(showStakeStanding, async () => ({ standing: 'not-taken' as const }))],
  })
  cleanup.add(() => rounds.stop())
  startService()
  let recorded = 0
  // In webhooks' place: an entry is done once its events are recorded.
  const recorder = consumeDurable({
    bus,
    stream: webhooksFanout.stream,
    consumer: webhooksFanout.config.durable_name,
    batchMax: recordedAtOnce,
    handle: async (messages) => {
      for (const message of messages) message.ack()
      recorded += messages.length
    },
    logger: pino({ level: 'silent' }),
  })
  cleanup.add(() => recorder.stop())
  const movements = storage.db.collection<StoredMovement>('movements')
  const instances = storage.db.collection<InstanceDocument>('journal_instances')

  async function register(operatorId: string, url: string): Promise<void> {
    await bus.call(putWallet.call, {
      caller: ownerOf(operatorId),
      params: { environment: 'TEST' },
      query: {},
      body: { url, timeout_ms: walletTimeoutMs, settle_losses: 'none' },
    })
  }

  await until('wallet-bridge to answer', () =>
    register(randomUUID(), walletUrl).then(
      () => true,
      () => false,
    ),
  )
  return {
    engines,
    bus,
    walletUrl,
    movements,
    recorded: () => recorded,
    async addOperator(name) {
      const scope: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
      const url = `${walletUrl}/${name}`
      await register(scope.operatorId, url)
      const pending = { walletKey: scopeKey(scope), status: 'PENDING' as const }
      return {
        scope,
        walletUrl: url,
        async behave(mood) {
          await wallet.ask({ name, mood })
        },
        pending: () => movements.countDocuments(pending),
        resolved: () =>
          until(
            `every movement of ${name}`,
            async () => (await movements.findOne(pending, { projection: { _id: 1 } })) === null,
            resolvedWait,
          ),
      }
    },
    published: () =>
      until('every entry to be listed and its events to be recorded', async () =>
        (await instances.find({}).toArray()).every(({ done, last }) => done === last),
      ),
  }
}
