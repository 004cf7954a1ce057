import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { connectServiceBus } from '@pitboss/bus/connect-service-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { createTimeScale } from '@pitboss/runtime/time-scale'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createSecretBox } from '@pitboss/storage/secret-box'
import { createWalletClient, type WalletClient } from './clients/wallet-client.ts'
import type { WalletBridgeConfig } from './config.ts'
import { callbackCalls } from './calls/callback-calls.ts'
import { movementCalls } from './calls/movement-calls.ts'
import { opsCalls } from './calls/ops-calls.ts'
import { reconciliationCalls } from './calls/reconciliation-calls.ts'
import { transactionRoutes } from './calls/transaction-routes.ts'
import { walletCalls } from './calls/wallet-calls.ts'
import { walletRoutes } from './calls/wallet-routes.ts'
import type { ApplyMessage } from './actions/apply-message.ts'
import { createCheckWallet } from './actions/check-wallet.ts'
import { createSettlement } from './actions/create-settlement.ts'
import { createResolveByPerson } from './actions/resolve-by-person.ts'
import { shareBreakers } from './clients/share-breakers.ts'
import { createWalletMetrics } from './metrics.ts'
import { callbackIndexes, createCallbackSignatures } from './storage/callback-signatures.ts'
import { createDueMovements, type DueMovements } from './storage/due-movements.ts'
import { movementIndexes } from './storage/movement-document.ts'
import { createMovementLists } from './storage/movement-lists.ts'
import { createMovements, type Movements } from './storage/movements.ts'
import { createOverlongWaits } from './storage/overlong-waits.ts'
import { createPendingMovements } from './storage/pending-movements.ts'
import { createWallets, type Wallets } from './storage/wallet-document.ts'
import { startLadderUpkeep } from './workers/ladder-upkeep.ts'
import { startPendingAlarms } from './workers/pending-alarms.ts'
import { startResolver } from './workers/resolver.ts'

const service = 'wallet-bridge'
const version = '0.1.0'
/** High, since a call that waits for a slow wallet takes a place; stakes are bounded per wallet. */
const concurrencyMax = 4096
const wakeSubject = 'wake.wallet.due'
/** A call that a slow wallet has not answered by then is given up here and taken up by the next process. */
const drainMaxMs = 8000

/** Parts that a proof may put something around; the product leaves them as they are. */
export type WalletBridgeWrap = {
  movements: (store: Movements) => Movements
  due: (store: DueMovements) => DueMovements
  wallets: (wallets: Wallets) => Wallets
  client: (client: WalletClient) => WalletClient
  apply: (apply: ApplyMessage) => ApplyMessage
  bus: (bus: Bus) => Bus
}

/** Wires the service: what arrives (calls, wake-ups), what it keeps (movements, wallets), what leaves (wallet calls, events). */
export async function startWalletBridge({
  config,
  host,
  wrap = {},
}: {
  config: WalletBridgeConfig
  wrap?: Partial<WalletBridgeWrap>
  host: Pick<ServiceHost, 'logger' | 'registry' | 'check' | 'stopping' | 'fail'>
}): Promise<RunningService> {
  const { logger } = host
  const clock = systemClock
  const allowLoopback = config.PITBOSS_ALLOW_LOOPBACK_WALLETS
  const { scaleMs } = createTimeScale(config.PITBOSS_TIME_SCALE)
  const { movements: wrapMovements = same, due: wrapDue = same, wallets: wrapWallets = same } = wrap
  const { client: wrapClient = same, apply: wrapApply = same, bus: wrapBus = same } = wrap
  const bus = wrapBus(await connectServiceBus({ service, config, host }))
  const storage = await connectStorage({
    url: config.MONGODB_URL,
    database: `${config.PITBOSS_DATABASE_PREFIX}_wallet_bridge`,
    logger,
  })
  const { db } = storage
  await ensureIndexes(db, { ...movementIndexes, ...callbackIndexes, wallets: [] })
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)

  const stored = createMovements(db)
  const movements = wrapMovements(stored)
  const wallets = wrapWallets(createWallets(db, createSecretBox(keyring)))
  const due = wrapDue(createDueMovements(stored))
  const pending = createPendingMovements(stored)
  const lists = createMovementLists(stored)
  const metrics = createWalletMetrics(host.registry)
  const client = wrapClient(createWalletClient({ allowLoopback, clock }))
  const outbox = createOutbox({ collection: stored.collection, bus, clock, logger })
  const deps = { movements, outbox, clock, scaleMs, newId }
  const shared = shareBreakers({ bus, replicaId: newId('rep') })
  const settlement = createSettlement({
    ...deps,
    wallets,
    due,
    client,
    metrics,
    logger,
    wake: wakeAll,
    tellBreakers: shared.tell,
    wrapApply,
  })
  const heard = shared.listen(settlement.breakers.hear)
  const resolver = startResolver({
    due,
    advance: settlement.advance,
    breakers: settlement.breakers,
    clock,
    newRequestId: () => newId('req'),
    logger,
  })
  const alarms = startPendingAlarms({ pending, metrics, clock, logger })
  const overlong = createOverlongWaits(stored, scaleMs)
  const upkeep = startLadderUpkeep({ overlong, wake: wakeAll, clock, logger })
  const stopOutbox = outbox.start()
  const wakeUps = bus.subscribe('wake.wallet.>', () => resolver.wake())

  /** This process at once, the other replicas over NATS; whoever misses it polls. */
  function wakeAll(): void {
    resolver.wake()
    bus.publish(wakeSubject, new Uint8Array())
  }

  host.check('nats', () => bus.connected())
  host.check('database', () => storage.ping())
  const served = await serveCalls({
    bus,
    service,
    version,
    concurrencyMax,
    logger,
    handlers: [
      ...movementCalls({ ...settlement, movements }),
      ...walletCalls({ wallets, client, breakers: settlement.breakers, logger }),
      ...walletRoutes({
        wallets,
        check: createCheckWallet({ client, clock, newId }),
        allowLoopback,
        clock,
      }),
      ...transactionRoutes({ movements, lists, cursors: createCursorCodec({ keyring }) }),
      ...callbackCalls({
        wallets,
        movements,
        signatures: createCallbackSignatures(db),
        apply: settlement.apply,
        clock,
        wake: wakeAll,
        logger,
      }),
      ...reconciliationCalls({ lists }),
      ...opsCalls({
        lists,
        wallets,
        pending,
        settlement,
        resolveByPerson: createResolveByPerson({ ...deps, apply: settlement.apply }),
        clock,
        logger,
      }),
    ],
  })

  return {
    async stop() {
      wakeUps.unsubscribe()
      heard.unsubscribe()
      const idle = Promise.all([served.stop(), resolver.stop(), alarms.stop(), upkeep.stop()])
      await Promise.race([idle, delay(drainMaxMs, null, { ref: false })])
      await stopOutbox()
      await client.close()
      await storage.close()
      await bus.close()
    },
  }
}

function same<Part>(part: Part): Part {
  return part
}
