import { scopeKey, scopeOf } from '@pitboss/contracts/caller'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { auditedInsert, type WithAudit } from '@pitboss/storage/audit-outbox'
import type { Storage } from '@pitboss/storage/connect-storage'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { append, type Decided, load } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import { createLease } from '@pitboss/storage/lease'
import type { Collection, Db, Filter } from 'mongodb'
import type { Logger } from 'pino'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { firstEntryOf, type MoneyFact, moneyOf, moneyStream, type RoundKey } from './round-money.ts'
import { type EarlierMovement, fromEarlier } from './listed-movements.ts'
import type { OpenMoney } from './open-money.ts'

type UpgradeDocument = { readonly _id: string; readonly at: Date; readonly hasEarlier: boolean }

export const upgradeIndexes: Readonly<Record<'upgrades', readonly IndexDeclaration[]>> = { upgrades: [] }

const upgradeId = 'movements-in-journal'
const epoch = new Date(0)
const atOnce = 16
const appendWithinMs = 30_000
const waitMs = 500
const leaseTtlMs = 30_000

/** What of an earlier build's movements is not finished, by the index that it had for it. */
const unfinishedBy: Readonly<Record<string, Filter<EarlierMovement>>> = {
  pending: { status: 'PENDING' },
  due: { walletKey: { $gt: '' }, dueAt: { $gt: epoch } },
  outbox_at: { outboxAt: { $gt: epoch } },
  audit_outbox: { auditOutboxAt: { $gt: epoch } },
  look: { lookAt: { $gt: epoch } },
}

/** Whether the database has been upgraded; null when it has not, else whether it had movements before. */
export async function findUpgrade(db: Db): Promise<{ readonly hasEarlier: boolean } | null> {
  return db.collection<UpgradeDocument>('upgrades').findOne({ _id: upgradeId })
}

/**
 * Brings what an earlier build has not finished into the journal: each such round's movements as its first
 * entry, their events as another, audit entries as documents. Idempotent; one process does it while others
 * wait, and none of an earlier build may run. Source: docs/versioning.md.
 * @returns whether the database has movements of an earlier build
 */
export async function upgradeStorage(
  { db, clock, clockAheadMs }: Pick<Storage, 'db' | 'clock' | 'clockAheadMs'>,
  { journal, unfinished, isListed }: Pick<OpenMoney, 'journal' | 'unfinished' | 'isListed'>,
  { stopping, logger }: { readonly stopping: AbortSignal; readonly logger: Pick<Logger, 'info'> },
): Promise<boolean> {
  const movements = db.collection<EarlierMovement>('movements')
  const owner = randomUUID()
  const lease = createLease({ db, name: 'upgrade', owner, ttlMs: leaseTtlMs, clock, clockAheadMs })
  for (;;) {
    const done = await findUpgrade(db)
    if (done !== null) return done.hasEarlier
    const token = await lease.acquire()
    if (token === null) {
      await delay(waitMs, null, { signal: stopping })
      continue
    }
    try {
      const hasEarlier = (await movements.findOne({}, { projection: { _id: 1 } })) !== null
      const rounds = hasEarlier ? await readUnfinished(movements) : []
      await mapBounded(rounds, atOnce, async (round) => {
        if (!(await lease.renew(token))) throw new Error('another process upgrades the storage')
        await bringOver(round)
      })
      await insertedFirst(() =>
        db.collection<UpgradeDocument>('upgrades').insertOne({ _id: upgradeId, at: clock.now(), hasEarlier }),
      )
      if (hasEarlier) logger.info({ rounds: rounds.length }, 'storage.upgraded')
      return hasEarlier
    } finally {
      await lease.release(token)
    }
  }

  async function bringOver(round: RoundKey): Promise<void> {
    const stream = moneyStream(round)
    const asked = { roundId: round.roundId, ...scopeOf(round), walletKey: scopeKey(round) }
    const found = await movements.find(asked, { sort: { reference: 1 } }).toArray()
    const earlier = found.filter(({ n }) => n === undefined)
    for (const { auditOutbox = [] } of earlier) await moveAudit(auditOutbox)
    if ((await load(journal, stream)).last === 0)
      await appendKnown(stream, firstEntryOf(earlier.map(fromEarlier)))
    const events = earlier.flatMap(({ outbox }) => outbox)
    const { entries } = await load(journal, stream)
    const isSent = entries.some(({ f }) => f.some((fact) => 'sent' in fact))
    if (events.length > 0 && !isSent) await appendKnown(stream, { facts: [{ sent: true }], events })
    const { entries: standing, last } = await load(journal, stream)
    unfinished.own([...moneyOf(standing).values()], last)
    await isListed(stream, last)
  }

  async function appendKnown(stream: StreamKey, decided: Decided<MoneyFact> | null): Promise<void> {
    if (decided === null) return
    const { last } = await load(journal, stream)
    const { kind } = await append(journal, stream, last, decided, journal.steadyMs() + appendWithinMs)
    if (kind !== 'appended') throw new Error(`${stream} is not brought over: ${kind}`)
  }

  async function moveAudit(entries: readonly AuditEntry[]): Promise<void> {
    const collection = db.collection<WithAudit & { _id: string }>('audit_entries')
    for (const entry of entries) {
      const document = { _id: entry.audit_id, auditRemoves: true, ...auditedInsert(entry) }
      await insertedFirst(() => collection.insertOne(document))
    }
  }
}

/** A build without one of the indexes had nothing to find by it. */
async function readUnfinished(movements: Collection<EarlierMovement>): Promise<RoundKey[]> {
  const rounds = new Map<string, RoundKey>()
  const present = new Set((await movements.indexes()).map(({ name }) => name))
  for (const [index, filter] of Object.entries(unfinishedBy)) {
    if (!present.has(index)) continue
    const options = { hint: index, projection: { _id: 0, operatorId: 1, environment: 1, roundId: 1 } }
    const found = movements.find<RoundKey>({ ...filter, n: { $exists: false } }, options)
    for await (const round of found) rounds.set(moneyStream(round), round)
  }
  return [...rounds.values()]
}
