import type { AuditEntry } from '@pitboss/contracts/audit'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { isAudited } from '@pitboss/contracts/defined-calls'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { handler } from '@pitboss/bus/serve-calls'
import { serveService, serviceVersion } from '@pitboss/bus/serve-service'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
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
import { createLease } from '@pitboss/storage/lease'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { setTimeout as delay } from 'node:timers/promises'
import { createOperatorWallets } from './actions/operator-wallets.ts'
import { createCheckWallet } from './actions/check-wallet.ts'
import { healMovements } from './actions/heal-movements.ts'
import { createJobs } from './actions/create-jobs.ts'
import { advanceDue, isStakeTry } from './actions/advance-due.ts'
import { placeMovement } from './actions/place-movement.ts'
import { voidStake } from './actions/place-reversal.ts'
import { type MovementRules, openSettlement } from './context.ts'
import { createOperateMovements } from './actions/operate-movements.ts'
import { createReadCalls, createReadCallSeries } from './actions/read-call-series.ts'
import { createReadMovements, createReadTransactions } from './actions/read-movements.ts'
import { createKeepFlags } from './actions/keep-flags.ts'
import { createMoveAudits } from './actions/move-audits.ts'
import { createRaiseFlags } from './actions/raise-flags.ts'
import { createReconcileLedger } from './actions/reconcile-ledger.ts'
import { createTellEndsAgain } from './actions/tell-ends-again.ts'
import { takeCallback } from './actions/take-callback.ts'
import { createReportPending, createShortenWaits } from './actions/watch-pending.ts'
import { certificationCalls } from './calls/certifications.ts'
import { flagCalls } from './calls/flags.ts'
import { gatewayCalls } from './calls/gateway.ts'
import { movementCalls } from './calls/movements.ts'
import { operationsCalls } from './calls/operations.ts'
import { reconciliationCalls } from './calls/reconciliations.ts'
import { shareBreakers } from './clients/share-breakers.ts'
import { type AskStanding, createAskStanding } from './clients/ask-standing.ts'
import { createWalletClient, type WalletClient } from './clients/wallet-client.ts'
import type { WalletBridgeConfig } from './config.ts'
import { countEnds, createWalletMetrics, registerBreakers, registerDueLags } from './metrics.ts'
import { createFlagStore } from './storage/flag-store.ts'
import { auditedCollections, indexes } from './storage/indexes.ts'
import { createMovementLists } from './storage/movement-lists.ts'
import type { MovementDocument } from './storage/movement-document.ts'
import type { MovementStore } from './storage/movement-store.ts'
import { openMoney } from './storage/open-money.ts'
import { createPendingMovements } from './storage/pending-movements.ts'
import type { DueMovements } from './storage/unfinished-movements.ts'
import { findUpgrade, upgradeStorage } from './storage/upgrade-storage.ts'
import { toMovementRecord } from './records/render-movement.ts'
import { scopeOf } from './rules/movement-keys.ts'
import { sealedPlaces } from './storage/sealed-places.ts'
import { createCallbackSignatures, createWallets, type Wallets } from './storage/wallet-document.ts'
import { startResolver } from './workers/resolver.ts'
import { startUpkeep } from './workers/start-upkeep.ts'

const service = 'wallet-bridge'
/** High, because a call that waits for a slow wallet takes a place. Stakes are bounded per wallet. */
const concurrencyMax = 4096
const wakeSubject = 'wake.wallet.due'
/**
 * A wallet call without an answer by then is abandoned here; another process gives it up as lost and repeats
 * it.
 */
const drainMaxMs = 8000
const upgradeLeaseTtlMs = 30_000

/** Parts that a proof may put something around; the product leaves them as they are. */
export type WalletBridgeWrap = {
  movements: (store: MovementStore) => MovementStore
  due: (store: DueMovements) => DueMovements
  wallets: (wallets: Wallets) => Wallets
  client: (client: WalletClient) => WalletClient
  rules: (rules: MovementRules) => MovementRules
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
  const upgrade = await findUpgrade(db)
  // What an upgrade reads by, it still needs.
  await storage.patiently((own) => ensureIndexes(own, indexes, logger, { drops: upgrade !== null }))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  const seals = createRewriteSeals({ db, keyring, places: sealedPlaces, logger })
  await seals.reportMissing()

  const flags = createFlagStore(db)
  const appendAudits = (entries: readonly AuditEntry[]) =>
    bus.call(appendAudit['wallet-bridge'], { entries: [...entries] })
  const audits = createMoveAudits(appendAudits)
  let hasEarlier = true
  const money = await openMoney({
    ...{ db, bus, clock, scaleMs, newId, logger },
    position: (withFirst) => eventsPosition(bus, withFirst),
    build: serviceVersion,
    registry: host.registry,
    hasEarlier: () => hasEarlier,
    duties: (readMoney) => [
      {
        name: 'flags',
        run: createRaiseFlags({
          ...{ flags, readMoney, clock, logger },
          wallets: { copy: (scope) => wallets.copy(scope) },
        }),
      },
      { name: 'audit', run: audits.run },
    ],
    onAudit: audits.expect,
  })
  const { running, unfinished } = money
  const { steadyMs } = money.journal
  const copies = shareCopies({ bus, service, instances: running.instances, steadyMs, logger })
  const walletStore = createWallets(db, createSecretBox(keyring), copies)
  const wallets = wrap.wallets?.(walletStore) ?? walletStore
  hasEarlier = await upgradeStorage({
    ...{ db, journal: money.journal, unfinished, isListed: money.isListed, logger },
    lease: createLease({
      ...{ db, name: 'upgrade', owner: newId('rep'), ttlMs: upgradeLeaseTtlMs, clock, clockAheadMs },
    }),
    now: () => clock.now(),
    stopping: host.stopping,
  })
  if (upgrade === null) await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  const metrics = createWalletMetrics(host.registry)
  const movements = countEnds(wrap.movements?.(money.movements) ?? money.movements, metrics)
  const due = wrap.due?.(unfinished) ?? unfinished
  const pending = createPendingMovements(money.lists)
  const lists = createMovementLists(money.lists)
  const figures = createFiguresStore(db)
  const cursors = createCursorCodec({ keyring })
  const walletClient = createWalletClient({ outbound, clock })
  const client = wrap.client?.(walletClient) ?? walletClient
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
    append: appendAudits,
    ...{ clock, newId, logger },
  })
  const notes = createTailNotes({ bus, root: 'wallet', logger })
  const tell = (movement: MovementDocument) =>
    notes.tell(scopeOf(movement), 'movements', () => toMovementRecord(movement))
  const inDoubtBefore = config.PITBOSS_STAKES_IN_DOUBT_BEFORE ?? null
  const askStanding = createAskStanding({ bus, clock, inDoubtBefore, logger })
  const shared = shareBreakers({ bus, replicaId: newId('rep') })
  const settlement = openSettlement({
    ...{ movements, tell, clock, scaleMs, newId },
    wallets,
    due,
    client,
    askStanding: wrap.askStanding?.(askStanding) ?? askStanding,
    audit,
    metrics,
    logger,
    wake: wakeAll,
    notifyBreakers: shared.notify,
    ...(wrap.rules === undefined ? {} : { wrapRules: wrap.rules }),
  })
  const { breakers } = settlement
  const heard = shared.listen(breakers.receive)
  registerBreakers(host.registry, breakers)
  const resolver = startResolver({
    due: {
      // Nothing is due by a clock that is wrong.
      nextWallet: async (after) => (clockAgrees(clockAheadMs()) ? due.nextWallet(after, clock.now()) : null),
      ofWallet: (walletKey, limit) => due.ofWallet(walletKey, clock.now(), limit),
      isSilent: breakers.isOpen,
      isStake: (document) => isStakeTry(settlement, document),
      advance: (document, requestId) => advanceDue(settlement, document, requestId),
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
    shortenWaits: createShortenWaits({ unfinished, wake: () => resolver.wake(), clock, logger }),
    foldFigures: createFoldFigures({ figures, clock, readFacts: createReadCalls({ lists }) }),
    ...{ jobs, db, clock, clockAheadMs, logger },
  })
  const stopAudit = audit.start()
  const wakeUps = bus.subscribe('wake.wallet.>', () => resolver.wake())

  /** Wakes this process at once and the other replicas over NATS; a replica that misses it polls. */
  function wakeAll(): void {
    resolver.wake()
    bus.publish(wakeSubject, new Uint8Array())
  }

  const callbacks = { signatures: createCallbackSignatures(db), wake: wakeAll }
  host.check('nats', () => bus.connected())
  const handlers = [
    ...movementCalls({
      placeMovement: (...asked) => placeMovement(settlement, ...asked),
      voidStake: (...asked) => voidStake(settlement, ...asked),
      readMovements: createReadMovements({ movements }),
    }),
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
      takeCallback: (...taken) => takeCallback(settlement, callbacks, ...taken),
    }),
    ...certificationCalls(jobs.certification.keep(upkeep.wakeCertifier)),
    ...reconciliationCalls(jobs.reconciliation.keep(upkeep.wakeReconciler)),
    ...flagCalls(createKeepFlags({ flags, wallets, cursors, audit, clock })),
    handler(opsRewriteSeals['wallet-bridge'], ({ order, after }) =>
      seals.page({ after, isDry: order.dryRun }),
    ),
    ...operationsCalls({
      operateMovements: createOperateMovements(settlement, { lists, pending }),
      healMovements: (...asked) => healMovements(settlement, ...asked),
      tellEndsAgain: createTellEndsAgain({ lists, movements }),
      clock,
    }),
  ]
  await running.start()
  const served = await serveService({
    ...{ bus, service, config, host, concurrencyMax, clockAheadMs },
    // Settlement never waits for the audit.
    handlers: handlers.map((one) =>
      isAudited(one.subject) ? { ...one, run: audit.following(audits.following(one.run)) } : one,
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
      await running.stop()
      copies.stop()
      await stopAudit()
      await client.close()
      await storage.close()
      await bus.close()
    },
  }
}
