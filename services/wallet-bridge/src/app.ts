import { appendAudit } from '@pitboss/contracts/calls/auth'
import { isAudited } from '@pitboss/contracts/defined-calls'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import { createCallTokens, keysFromAuth } from '@pitboss/bus/call-tokens'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { createIsDenied } from '@pitboss/contracts/address-range'
import { countUnfinishedRounds } from '@pitboss/contracts/calls/rounds'
import type { OutboundSettings } from '@pitboss/outbound/address-guard'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { createFiguresStore } from '@pitboss/storage/figures-store'
import { createFoldFigures } from '@pitboss/storage/fold-figures'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createOutbox } from '@pitboss/storage/outbox'
import { createOutboxMetrics } from '@pitboss/storage/outbox-metrics'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { setTimeout as delay } from 'node:timers/promises'
import type { ApplyMessage } from './actions/apply-message.ts'
import { createOperatorWallets } from './actions/operator-wallets.ts'
import { createCheckWallet } from './actions/check-wallet.ts'
import { createHealMovements } from './actions/heal-movements.ts'
import { createJobs } from './actions/create-jobs.ts'
import { createSettlement } from './actions/create-settlement.ts'
import { createOperateMovements, createResolveByPerson } from './actions/operate-movements.ts'
import { createReadCalls, createReadCallSeries } from './actions/read-call-series.ts'
import { createReadMovements, createReadTransactions } from './actions/read-movements.ts'
import { createKeepFlags } from './actions/keep-flags.ts'
import { createRaiseFlags } from './actions/raise-flags.ts'
import { createReconcileLedger } from './actions/reconcile-ledger.ts'
import { createTellEndsAgain } from './actions/tell-ends-again.ts'
import { createTakeCallback } from './actions/take-callback.ts'
import { createReportPending, createShortenWaits } from './actions/watch-pending.ts'
import { certificationCalls } from './calls/certifications.ts'
import { flagCalls } from './calls/flags.ts'
import { gatewayCalls } from './calls/gateway.ts'
import { movementCalls } from './calls/movements.ts'
import { operationsCalls } from './calls/operations.ts'
import { reconciliationCalls } from './calls/reconciliations.ts'
import { sealCalls } from './calls/seals.ts'
import { shareBreakers } from './clients/share-breakers.ts'
import { type AskStanding, createAskStanding } from './clients/ask-standing.ts'
import { createWalletClient, type WalletClient } from './clients/wallet-client.ts'
import type { WalletBridgeConfig } from './config.ts'
import { countEnds, createWalletMetrics, registerBreakers, registerDueLags } from './metrics.ts'
import { createDueMovements, createPendingMovements, type DueMovements } from './storage/due-movements.ts'
import { createFlagStore } from './storage/flag-store.ts'
import { auditedCollections, indexes } from './storage/indexes.ts'
import { createLooks } from './storage/looks.ts'
import { createMovementLists } from './storage/movement-lists.ts'
import { createMovements, type MovementDocument, type Movements } from './storage/movements.ts'
import { toMovementRecord } from './records/render-movement.ts'
import { scopeOf } from './rules/movement-keys.ts'
import { sealedPlaces } from './storage/sealed-places.ts'
import { createCallbackSignatures, createWallets, type Wallets } from './storage/wallet-document.ts'
import { startResolver } from './workers/resolver.ts'
import { startUpkeep } from './workers/start-upkeep.ts'

const service = 'wallet-bridge'
const version = '0.1.0'
/** High, because a call that waits for a slow wallet takes a place. Stakes are bounded per wallet. */
const concurrencyMax = 4096
const wakeSubject = 'wake.wallet.due'
/**
 * A wallet call without an answer by then is abandoned here; another process gives it up as lost and repeats
 * it.
 */
const drainMaxMs = 8000

/** Parts that a proof may put something around; the product leaves them as they are. */
export type WalletBridgeWrap = {
  movements: (store: Movements) => Movements
  due: (store: DueMovements) => DueMovements
  wallets: (wallets: Wallets) => Wallets
  client: (client: WalletClient) => WalletClient
  apply: (apply: ApplyMessage) => ApplyMessage
  bus: (bus: Bus) => Bus
  askStanding: (ask: AskStanding) => AskStanding
}

/** Wires the service: its calls and wake-ups, its movements and wallets, its wallet calls and events. */
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
  const outbound: OutboundSettings = {
    allowLoopback: config.PITBOSS_ALLOW_LOOPBACK_WALLETS,
    isDenied: createIsDenied(config, logger),
  }
  const { scaleMs } = createTimeScale(config.PITBOSS_TIME_SCALE)
  const serviceBus = await connectServiceBus({ service, config, host })
  const bus = wrap.bus?.(serviceBus) ?? serviceBus
  const storage = await connectServiceStorage({ service, config, host })
  const { db, clock, clockAheadMs } = storage
  await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  const seals = createRewriteSeals({ db, keyring, places: sealedPlaces, logger })
  await seals.reportMissing()

  const stored = createMovements(db)
  const metrics = createWalletMetrics(host.registry)
  const movements = countEnds(wrap.movements?.(stored) ?? stored, metrics)
  const walletStore = createWallets(db, createSecretBox(keyring))
  const wallets = wrap.wallets?.(walletStore) ?? walletStore
  const dueStore = createDueMovements(stored)
  const due = wrap.due?.(dueStore) ?? dueStore
  const pending = createPendingMovements(stored, scaleMs)
  const lists = createMovementLists(stored)
  const flags = createFlagStore(db)
  const figures = createFiguresStore(db)
  const cursors = createCursorCodec({ keyring })
  const walletClient = createWalletClient({ outbound, clock })
  const client = wrap.client?.(walletClient) ?? walletClient
  const outbox = createOutbox({
    collection: stored.collection,
    bus,
    position: (withFirst) => eventsPosition(bus, withFirst),
    clock,
    logger,
  })
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
    append: (entries) => bus.call(appendAudit['wallet-bridge'], { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  const notes = createTailNotes({ bus, root: 'wallet', logger })
  const tell = (movement: MovementDocument) =>
    notes.tell(scopeOf(movement), 'movements', () => toMovementRecord(movement))
  const deps = { movements, outbox, tell, clock, scaleMs, newId }
  const askStanding = createAskStanding({ bus, clock, logger })
  const shared = shareBreakers({ bus, replicaId: newId('rep') })
  const { apply, advance, breakers, placeMovement, voidStake } = createSettlement({
    ...deps,
    wallets,
    due,
    client,
    askStanding: wrap.askStanding?.(askStanding) ?? askStanding,
    audit,
    metrics,
    logger,
    wake: wakeAll,
    notifyBreakers: shared.notify,
    ...(wrap.apply === undefined ? {} : { wrapApply: wrap.apply }),
  })
  const heard = shared.listen(breakers.receive)
  registerBreakers(host.registry, breakers)
  createOutboxMetrics({ registry: host.registry, collections: { movements: stored.collection }, clock })
  const resolver = startResolver({
    due: {
      ...advance,
      // Nothing is due by a clock that is wrong.
      nextWallet: async (after) => (clockAgrees(clockAheadMs()) ? advance.nextWallet(after) : null),
    },
    clock,
    newRequestId: () => newId('req'),
    logger,
  })
  registerDueLags(host.registry, resolver)
  const reconcile = createReconcileLedger({ lists })
  const jobs = createJobs({ db, wallets, client, reconcile, cursors, audit, clock, newId })
  const upkeep = startUpkeep({
    reportPending: createReportPending({ pending, metrics, clock, logger }),
    shortenWaits: createShortenWaits({ pending, wake: wakeAll, clock, logger }),
    foldFigures: createFoldFigures({ figures, clock, readFacts: createReadCalls({ lists }) }),
    raiseFlags: createRaiseFlags({ looks: createLooks(stored), flags, movements, wallets, clock, logger }),
    ...{ jobs, db, clock, clockAheadMs, scaleMs, logger },
  })
  const stopOutbox = outbox.start()
  const stopAudit = audit.start()
  const wakeUps = bus.subscribe('wake.wallet.>', () => resolver.wake())

  /** Wakes this process at once and the other replicas over NATS; a replica that misses it polls. */
  function wakeAll(): void {
    resolver.wake()
    bus.publish(wakeSubject, new Uint8Array())
  }

  host.check('nats', () => bus.connected())
  const handlers = [
    ...movementCalls({ placeMovement, voidStake, readMovements: createReadMovements({ movements }) }),
    ...gatewayCalls({
      bus,
      wallets: createOperatorWallets({
        ...{ wallets, pending, client, breakers, audit, outbound, clock, logger },
        askApproval: createAskApproval({ bus, service: 'wallet-bridge' }),
        countUnfinishedRounds: async (scope) => (await bus.call(countUnfinishedRounds, { scope })).count,
      }),
      check: createCheckWallet({ wallets, client, clock, newId }),
      readSeries: createReadCallSeries({ wallets, figures, clock }),
      transactions: createReadTransactions({ movements, lists, cursors }),
      reconcile,
      takeCallback: createTakeCallback({
        ...{ wallets, movements, apply, clock, logger },
        signatures: createCallbackSignatures(db),
        wake: wakeAll,
      }),
    }),
    ...certificationCalls(jobs.certification.keep(upkeep.wakeCertifier)),
    ...reconciliationCalls(jobs.reconciliation.keep(upkeep.wakeReconciler)),
    ...flagCalls(createKeepFlags({ flags, wallets, cursors, audit, clock })),
    ...sealCalls(seals),
    ...operationsCalls({
      operateMovements: createOperateMovements({
        lists,
        wallets,
        pending,
        breakers,
        resolveByPerson: createResolveByPerson({ ...deps, apply, audit }),
        logger,
      }),
      healMovements: createHealMovements({ movements, wallets, apply, audit, clock, newId }),
      tellEndsAgain: createTellEndsAgain({ lists, outbox }),
      clock,
    }),
  ]
  const served = await serveCalls({
    bus,
    service,
    version,
    concurrencyMax,
    clockAheadMs,
    tokens: createCallTokens({
      loadKeys: keysFromAuth(bus),
      mode: config.PITBOSS_CALL_TOKENS,
      logger,
      registry: host.registry,
    }),
    logger,
    registry: host.registry,
    // Settlement never waits for the audit.
    handlers: handlers.map((handler) =>
      isAudited(handler.subject) ? { ...handler, run: audit.following(handler.run) } : handler,
    ),
  })

  return {
    async stop() {
      wakeUps.unsubscribe()
      shared.stop()
      heard.unsubscribe()
      notes.stop()
      const idle = Promise.all([served.stop(), resolver.stop(), upkeep.stop()])
      await Promise.race([idle, delay(drainMaxMs, null, { ref: false })])
      await stopOutbox()
      await stopAudit()
      await client.close()
      await storage.close()
      await bus.close()
    },
  }
}
