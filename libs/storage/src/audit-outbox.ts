import { AsyncLocalStorage } from 'node:async_hooks'
import type { ActedBy, AuditEntry } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { startPoll } from '@pitboss/runtime/poll'
import { within } from '@pitboss/runtime/within'
import type { Db, Document, UpdateFilter } from 'mongodb'
import type { Logger } from 'pino'
import type { IndexDeclaration } from './ensure-indexes.ts'

/** While this process may have left an entry behind, and else: then only a dead process can have. */
const sweepEveryMs = 5000
const backstopEveryMs = 60_000
const documentsPerPage = 100
const entriesPerCall = 50
const width = 8
const answerWaitsMs = 500
const beginning = new Date(0)

/** Fields of a document whose changes are audited. `auditOutboxAt` is a time while an entry waits. */
export type WithAudit = {
  auditOutbox?: AuditEntry[]
  auditOutboxAt?: Date | null
  /** The document is deleted once its entries have moved. */
  auditRemoves?: boolean
}

/** The change that an entry tells of. Both records are public ones, without secrets. */
export type AuditedChange = Pick<AuditEntry, 'act' | 'object' | 'before' | 'after'>

/** The index by which waiting entries are found; declare it with each audited collection. */
export const auditOutboxIndex: IndexDeclaration = {
  key: { auditOutboxAt: 1 },
  name: 'audit_outbox',
  partialFilterExpression: { auditOutboxAt: { $gt: beginning } },
}

/** Entries of orders that change no document of their service; declare it with the service's collections. */
export const auditEntriesIndexes: Readonly<Record<'audit_entries', readonly IndexDeclaration[]>> = {
  audit_entries: [auditOutboxIndex],
}

/** The fields with which a document is inserted whose creation is audited. */
export function auditedInsert(entry: AuditEntry): Required<Omit<WithAudit, 'auditRemoves'>> {
  return { auditOutbox: [entry], auditOutboxAt: new Date(entry.at) }
}

/** The same update, which appends the entry as well; null appends none. */
export function auditedUpdate<Doc extends WithAudit>(
  update: UpdateFilter<Doc>,
  entry: AuditEntry | null,
): UpdateFilter<Doc> {
  if (entry === null) return update
  // The driver's types cannot see through a generic document.
  const { $set, $push, ...rest }: Document = update
  return {
    ...rest,
    $set: { ...$set, auditOutboxAt: new Date(entry.at) },
    $push: { ...$push, auditOutbox: entry },
  } as UpdateFilter<Doc>
}

export type AuditOutbox = ReturnType<typeof createAuditOutbox>

/**
 * Moves audit entries from the documents whose changes they tell of to the audit log of auth. An entry leaves
 * its document after the log has it, and the log takes an id once: so none is lost or doubled, whichever
 * process dies when. Source: docs/decisions/2026-11-23-audit-in-the-same-write.md.
 * @param shardKeys the field of the shard key of each collection that has one beside `_id`
 * @param append writes entries into the log and passes over those that it has
 */
export function createAuditOutbox({
  db,
  collections,
  shardKeys = {},
  append,
  clock,
  newId,
  logger,
}: {
  db: Db
  collections: readonly string[]
  shardKeys?: Readonly<Record<string, string>>
  append: (entries: readonly AuditEntry[]) => Promise<unknown>
  clock: Clock
  newId: (prefix: string) => string
  logger: Pick<Logger, 'warn' | 'error'>
}) {
  const keyFields = (name: string) => (shardKeys[name] === undefined ? {} : { [shardKeys[name]]: 1 })
  /** The token of the request at work, with which its entries are borne out. */
  const sender = new AsyncLocalStorage<string | undefined>()
  let written = 0
  /** Entries that were made before the last sweep which moved all that it met. */
  let settled = -1
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null

  /** Moves what waits now. Never rejects: what cannot be moved now stays for the sweeper. */
  function move(): Promise<void> {
    if (running === null) {
      running = sweep().finally(() => {
        running = null
      })
      return running
    }
    // A sweep under way may have passed the document already.
    next ??= running.then(() => {
      next = null
      return move()
    })
    return next
  }

  async function sweep(): Promise<void> {
    const before = written
    let isDone = true
    for (const name of collections) if (!(await sweepOne(name))) isDone = false
    settled = isDone ? before : -1
  }

  /** Whether nothing is left that this process could move. */
  async function sweepOne(name: string): Promise<boolean> {
    const collection = db.collection<WithAudit & { _id: string }>(name)
    try {
      for (;;) {
        const page = await collection
          .find({ auditOutboxAt: { $gt: beginning } })
          .project<WithAudit & { _id: string }>({ auditOutbox: 1, auditRemoves: 1, ...keyFields(name) })
          .sort({ auditOutboxAt: 1 })
          .hint(auditOutboxIndex.name)
          .limit(documentsPerPage)
          .toArray()
        let isAway = false
        const outcomes = await mapBounded(page, width, async (document) => {
          if (isAway) return false
          const failure = await moveOne(name, document)
          isAway ||= failure === 'away'
          return failure === null
        })
        const isDone = outcomes.every(Boolean)
        if (page.length < documentsPerPage || !isDone) return isDone
      }
    } catch (err) {
      logger.warn({ err, collection: name }, 'audit.deferred')
      return false
    }
  }

  /** Moves the document's entries. @returns why not; null when all have moved */
  async function moveOne(
    name: string,
    document: WithAudit & { _id: string },
  ): Promise<'away' | 'refused' | null> {
    const collection = db.collection<WithAudit & { _id: string }>(name)
    const { _id, auditOutbox: entries = [], auditRemoves = false } = document
    const shardKey = shardKeys[name]
    const named = shardKey === undefined ? { _id } : { _id, [shardKey]: Object(document)[shardKey] }
    try {
      await failpoint('audit.written')
      for (let at = 0; at < entries.length; at += entriesPerCall) {
        const some = entries.slice(at, at + entriesPerCall)
        await append(some)
        await failpoint('audit.appended')
        const ids = some.map(({ audit_id }) => audit_id)
        await collection.updateOne(named, { $pull: { auditOutbox: { audit_id: { $in: ids } } } })
      }
      await failpoint('audit.taken')
      const isEmpty = { ...named, auditOutbox: { $size: 0 } }
      if (auditRemoves) await collection.deleteOne({ ...isEmpty, auditRemoves: true })
      else await collection.updateOne(isEmpty, { $set: { auditOutboxAt: null } })
      return null
    } catch (err) {
      logger.warn({ err, collection: name, document_id: _id }, 'audit.deferred')
      return err instanceof ServiceError && err.code === 'SERVICE_UNAVAILABLE' ? 'away' : 'refused'
    }
  }

  /** Makes an entry; the write of the change must take it along. */
  function makeEntry(by: ActedBy, { act, object, before, after }: AuditedChange): AuditEntry {
    written += 1
    const { operator_id, actor, client_address, request_id, reason, approval } = by
    const at = clock.now().toISOString()
    const author = { actor, client_address, request_id, ...(approval === undefined ? {} : { approval }) }
    const token = sender.getStore()
    const borneOut = token === undefined ? {} : { token }
    return {
      ...{ audit_id: newId('aud'), at, operator_id, ...author, act, object, before, after, reason },
      ...borneOut,
    }
  }

  return {
    entry: makeEntry,
    /** Stores the entry of an order that changes no document in `audit_entries`, before its work begins. */
    async store(by: ActedBy, change: AuditedChange): Promise<void> {
      const entry = makeEntry(by, change)
      const document = { _id: entry.audit_id, auditRemoves: true, ...auditedInsert(entry) }
      await db.collection<WithAudit & { _id: string }>('audit_entries').insertOne(document)
    },
    move,
    /** Wraps a function: its answer waits until the call's entries have moved, half a second at most. */
    following: <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
      async function follow(...args: Args): Promise<Result> {
        const before = written
        const result = await sender.run(tokenIn(args), () => run(...args))
        if (written > before) await within(move(), answerWaitsMs)
        return result
      },
    /**
     * Starts the sweeper: at once, then every five seconds while this process may have left an entry, and
     * every minute else. Returns the function that stops it.
     */
    start() {
      let sweptAtMs = Number.NEGATIVE_INFINITY
      const sweeper = startPoll({
        event: 'audit.sweep-failed',
        everyMs: sweepEveryMs,
        async work() {
          const waitedMs = performance.now() - sweptAtMs
          if (settled === written && waitedMs < backstopEveryMs) return
          await move()
          sweptAtMs = performance.now()
        },
        logger,
      })
      return () => sweeper.stop()
    },
  }
}

/** The token that came with a call, from the arguments of its handler. */
function tokenIn(args: readonly unknown[]): string | undefined {
  for (const arg of args) {
    const token: unknown =
      typeof arg === 'object' && arg !== null ? Reflect.get(arg, 'senderToken') : undefined
    if (typeof token === 'string') return token
  }
  return undefined
}
