import { scopeOf } from '@pitboss/contracts/caller'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import { eventsPosition } from '@pitboss/bus/consume-durable'
import { serviceVersion } from '@pitboss/bus/serve-service'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { createIsDenied } from '@pitboss/contracts/address-range'
import { createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { createPlaces } from '@pitboss/runtime/places'
import type { ServiceHost } from '@pitboss/runtime/run-service'
import type { Storage } from '@pitboss/storage/connect-storage'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { createFiguresStore } from '@pitboss/storage/figures-store'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import type { Duty } from '@pitboss/storage/journal/duties'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { createMoveAudits } from './actions/move-audits.ts'
import { audited, indexes, seals as places } from './all-wings.ts'
import { gossipBreakers } from './clients/breakers.ts'
import { createAskStanding } from './clients/ask-standing.ts'
import { createWalletClient } from './clients/wallet-client.ts'
import type { WalletBridgeConfig } from './config.ts'
import { type WalletContext, openSettlement } from './context.ts'
import { countEnds, createWalletMetrics } from './metrics.ts'
import { toMovementRecord } from './records/render-movement.ts'
import { createMovementLists } from './storage/movement-lists.ts'
import { openMoney } from './storage/open-money.ts'
import type { MoneyFact } from './storage/round-money.ts'
import { findUpgrade, upgradeStorage } from './storage/upgrade-storage.ts'
import { createCallbackSignatures, createWallets } from './storage/wallet-document.ts'

const service = 'wallet-bridge'
/** Callers who may wait for one wallet's balance: a hanging wallet must not fill the process. */
const balancesPerWalletMax = 64

type Wrapped = Pick<WalletContext, 'movements' | 'due' | 'wallets' | 'client' | 'rules' | 'askStanding'>
/** Parts that a proof puts something around. */
export type WalletBridgeWrap = { [Part in keyof Wrapped]: (part: Wrapped[Part]) => Wrapped[Part] } & {
  bus: (bus: Bus) => Bus
}

type Parts = {
  readonly config: WalletBridgeConfig
  readonly host: Pick<ServiceHost, 'logger' | 'registry' | 'stopping'>
  readonly wrap: Partial<WalletBridgeWrap>
  readonly bus: Bus
  readonly storage: Storage
  readonly wake: WalletContext['wake']
}

/** Opens the stores, clients and memory of the service, after the storage of an earlier build is upgraded. */
export async function openContext({ config, host, wrap, bus, storage, wake }: Parts) {
  const { logger, registry, stopping } = host
  const { db, clock } = storage
  const { scaleMs } = createTimeScale(config.PITBOSS_TIME_SCALE)
  const isDenied = createIsDenied(config, logger)
  const outbound = { allowLoopback: config.PITBOSS_ALLOW_LOOPBACK_WALLETS, isDenied }
  const upgrade = await findUpgrade(db)
  // What an upgrade reads by, it still needs.
  await storage.patiently((own) => ensureIndexes(own, indexes, logger, { drops: upgrade !== null }))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  const seals = createRewriteSeals({ db, keyring, places, logger })
  await seals.reportMissing()

  const appendAudits = (entries: readonly AuditEntry[]) =>
    bus.call(appendAudit['wallet-bridge'], { entries: [...entries] })
  const audits = createMoveAudits(appendAudits)
  // Those of wings come before it.
  const duties: Duty<MoneyFact>[] = [{ name: 'audit', run: audits.run }]
  let hasEarlier = true
  const money = await openMoney({
    ...{ db, bus, registry, clock, scaleMs, newId, logger },
    ...{ build: serviceVersion, slot: config.PITBOSS_SLOT ?? null },
    position: (withFirst) => eventsPosition(bus, withFirst),
    hasEarlier: () => hasEarlier,
    duties,
    onAudit: audits.expect,
  })
  const { running, unfinished } = money
  const { steadyMs } = money.journal
  const copies = shareCopies({ bus, service, instances: running.instances, steadyMs, logger })
  const walletStore = createWallets(db, createSecretBox(keyring), copies)
  hasEarlier = await upgradeStorage(storage, money, { stopping, logger })
  if (upgrade === null) await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  const metrics = createWalletMetrics(registry)
  const audit = createAuditOutbox({ db, collections: audited, append: appendAudits, clock, newId, logger })
  const client = createWalletClient({ outbound, clock })
  const notes = createTailNotes({ bus, root: 'wallet', logger })
  const inDoubtBefore = config.PITBOSS_STAKES_IN_DOUBT_BEFORE ?? null
  const askStanding = createAskStanding({ bus, clock, inDoubtBefore, logger })
  const shared = gossipBreakers({ bus, replicaId: newId('rep') })
  const settlement = openSettlement({
    ...{ audit, metrics, clock, scaleMs, newId, logger },
    movements: countEnds(wrap.movements?.(money.movements) ?? money.movements, metrics),
    wallets: wrap.wallets?.(walletStore) ?? walletStore,
    due: wrap.due?.(unfinished) ?? unfinished,
    client: wrap.client?.(client) ?? client,
    askStanding: wrap.askStanding?.(askStanding) ?? askStanding,
    notify: (movement) => notes.tell(scopeOf(movement), 'movements', () => toMovementRecord(movement)),
    wake,
    notifyBreakers: shared.notify,
    ...(wrap.rules === undefined ? {} : { wrapRules: wrap.rules }),
  })
  const subscription = shared.listen(settlement.breakers.receive)
  const context: WalletContext = {
    ...settlement,
    ...{ bus, metrics, outbound, wake },
    lists: createMovementLists(money.lists),
    signatures: createCallbackSignatures(db),
    figures: createFiguresStore(db),
    cursors: createCursorCodec({ keyring }),
    askApproval: createAskApproval({ bus, service }),
    balancePlaces: createPlaces(balancesPerWalletMax),
  }
  return {
    ...{ context, unfinished, running, seals, audit, duties, readMoney: money.readMoney },
    following: <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
      audit.following(audits.following(run)),
    /** Sends the last notes and ends the subscription to others'. */
    stopNotes() {
      shared.stop()
      subscription.unsubscribe()
      notes.stop()
    },
    stopCopies: copies.stop,
  }
}
