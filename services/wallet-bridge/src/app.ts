import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { handler } from '@pitboss/bus/serve-calls'
import { serveService } from '@pitboss/bus/serve-service'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { setTimeout as delay } from 'node:timers/promises'
import { advanceDue, isStakeTry } from './actions/advance-due.ts'
import { allWings } from './all-wings.ts'
import { gatewayCalls } from './calls/gateway.ts'
import { movementCalls } from './calls/movements.ts'
import { operationsCalls } from './calls/operations.ts'
import type { WalletBridgeConfig } from './config.ts'
import { registerBreakers, registerDueLags } from './metrics.ts'
import { openContext, type WalletBridgeWrap } from './open-context.ts'
import type { Wing } from './wing.ts'
import { startResolver } from './workers/resolver.ts'
import { startUpkeep } from './workers/start-upkeep.ts'

const service = 'wallet-bridge'
/** High, because a call that waits for a slow wallet takes a place. Stakes are bounded per wallet. */
const concurrencyMax = 4096
const wakeSubject = 'wake.wallet.due'
/** A call without an answer by then is abandoned; another process gives it up as lost and repeats it. */
const drainMaxMs = 8000

type Parts = {
  readonly config: WalletBridgeConfig
  readonly wrap?: Partial<WalletBridgeWrap>
  readonly wings?: readonly Wing[]
  readonly host: Pick<ServiceHost, 'logger' | 'registry' | 'check' | 'stopping' | 'fail'>
}

export async function startWalletBridge(parts: Parts): Promise<RunningService> {
  const { config, host, wrap = {}, wings = allWings } = parts
  const { logger, registry } = host
  const serviceBus = await connectServiceBus({ service, config, host })
  const bus = wrap.bus?.(serviceBus) ?? serviceBus
  const storage = await connectServiceStorage({ service, config, host })
  const { clock, clockAheadMs } = storage
  const opened = await openContext({ config, host, wrap, bus, storage, wake: wakeAll })
  const { context, running, seals, readMoney } = opened
  const { due, breakers } = context
  const open = wings.map((wing) => wing.open(context, { db: storage.db, clockAheadMs, readMoney }))
  opened.duties.unshift(...open.flatMap(({ duties = [] }) => duties))
  registerBreakers(registry, breakers)
  const resolver = startResolver({
    due: {
      // Nothing is due by a clock that is wrong.
      nextWallet: async (after) => (clockAgrees(clockAheadMs()) ? due.nextWallet(after, clock.now()) : null),
      ofWallet: (walletKey, limit) => due.ofWallet(walletKey, clock.now(), limit),
      isSilent: breakers.isOpen,
      isStake: (document) => isStakeTry(context, document),
      advance: (document, requestId) => advanceDue(context, document, requestId),
    },
    clock,
    newRequestId: () => newId('req'),
    logger,
  })
  registerDueLags(registry, resolver)
  const workers = [
    resolver,
    ...startUpkeep(context, { ...opened.unfinished, db: storage.db, clockAheadMs, wake: resolver.wake }),
    ...open.flatMap(({ start }) => start?.() ?? []),
  ]
  const stopAudit = opened.audit.start()
  const wakeUps = bus.subscribe('wake.wallet.>', () => resolver.wake())

  /** Wakes this process at once and the other replicas over NATS; a replica that misses it polls. */
  function wakeAll(): void {
    resolver.wake()
    bus.publish(wakeSubject, new Uint8Array())
  }

  host.check('nats', () => bus.connected())
  const handlers = [
    ...movementCalls(context),
    ...gatewayCalls(context),
    ...operationsCalls(context),
    handler(opsRewriteSeals['wallet-bridge'], ({ order, after }) =>
      seals.page({ after, isDry: order.dryRun }),
    ),
    ...open.flatMap(({ calls }) => calls),
  ]
  await running.start()
  const served = await serveService({
    ...{ bus, service, config, host, concurrencyMax, clockAheadMs },
    ...{ handlers, following: opened.following },
  })

  return {
    async stop() {
      wakeUps.unsubscribe()
      opened.stopNotes()
      const idle = Promise.all([served, ...workers].map((part) => part.stop()))
      await Promise.race([idle, delay(drainMaxMs, null, { ref: false })])
      await running.stop()
      opened.stopCopies()
      await stopAudit()
      await context.client.close()
      await storage.close()
      await bus.close()
    },
  }
}
