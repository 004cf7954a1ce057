import type { AuditEntry } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { insertedFirst, isDuplicateKey, isOnlyDuplicates } from '@pitboss/storage/create-once'
import { type IndexDeclaration, partialIndex } from '@pitboss/storage/ensure-indexes'
import { createSumStore, foldItems, type Sum } from '@pitboss/storage/journal/fold'
import type { Collection, Db, Filter } from 'mongodb'
import type { Catalogue } from '../../../rules/catalogue.ts'
import { decodeRound } from '../../../storage/round-document.ts'
import type { CountedEntry } from '../../../storage/rounds-journal.ts'
import {
  foldStep,
  keptStream,
  type Share,
  stepsOf,
  type StoredStream,
  streamKey,
  type StreamPlace,
  type StreamStep,
} from '../rules/watched-streams.ts'

const isDue = { alarmDueAt: { $gt: new Date(0) } }
const dueMax = 100
const restartsMax = 50

export const returnIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  return_streams: [
    // No two streams may have the same part of the error budget.
    { key: { share: 1, position: 1 }, name: 'share_position', unique: true },
    { key: { scope: 1, _id: 1 }, name: 'scope_id' },
    partialIndex('alarm_due_at', { alarmDueAt: 1 }, isDue),
  ],
  return_alarms: [partialIndex('open_by_game', { game: 1 }, { open: true }), auditOutboxIndex],
}

export type StreamFilters = { readonly game?: string | undefined; readonly currency?: string | undefined }
type Page = { readonly after: string | null; readonly max: number }

export type ReturnsStore = ReturnType<typeof createReturnsStore>

/** Reads of the watch of returns, and its alarms. `createReturnsFold` fills the streams. */
export function createReturnsStore({ db }: { db: Db }) {
  const streams = db.collection<StreamDocument>('return_streams')
  const alarms = db.collection<AlarmDocument>('return_alarms')

  return {
    /** Streams by game, rules, currency and shape. @param scope of an account, or `installationScope` */
    list(scope: string, { game, currency }: StreamFilters, { after, max }: Page) {
      const filter: Filter<StreamDocument> = {
        scope,
        ...(game === undefined ? {} : { game }),
        ...(currency === undefined ? {} : { currency }),
        ...(after === null ? {} : { _id: { $gt: after } }),
      }
      return readToEnd(streams.find(filter, { sort: { _id: 1 }, limit: max }))
    },

    /** Streams whose alarm was not acted on yet, oldest first. */
    findDue: () =>
      streams.find(isDue, { sort: { alarmDueAt: 1 }, hint: 'alarm_due_at', limit: dueMax }).toArray(),

    keepAlarm: (alarm: AlarmDocument): Promise<boolean> => insertedFirst(() => alarms.insertOne(alarm)),

    async markTold({ _id, generation }: Pick<StreamDocument, '_id' | 'generation'>): Promise<void> {
      await streams.updateOne({ _id, generation }, { $set: { alarmDueAt: null }, $inc: { version: 1 } })
    },

    /** Alarms by id, of every account. For operations. */
    listAlarms: ({ after, max }: Page) =>
      alarms.find(after === null ? {} : { _id: { $gt: after } }, { sort: { _id: 1 }, limit: max }).toArray(),

    findAlarm: (alarmId: string) => alarms.findOne({ _id: alarmId }),

    holdsDown: async (game: string) =>
      (await alarms.findOne({ game, open: true, rule: 'take-down' }, { hint: 'open_by_game' })) !== null,

    countOpen: async () => Number(await alarms.countDocuments({ open: true }, { hint: 'open_by_game' })),

    async lift(_id: string, { by, reason }: Pick<OpsOrder, 'by' | 'reason'>, now: Date, entry: AuditEntry) {
      const lifted = { open: false, liftedAt: now, liftedBy: by, liftReason: reason }
      const update = auditedUpdate<AlarmDocument>({ $set: lifted }, entry)
      await alarms.updateOne({ _id, open: true }, update)
    },

    /** Restarts a stream once after its alarm was lifted, with an error budget of its own. */
    async restart({ _id, generation, share, counts }: StreamDocument, now: Date): Promise<void> {
      for (let tries = 0; tries < restartsMax; tries++) {
        const position = (await lastPosition(streams, share)) + 1
        try {
          await streams.updateOne(
            { _id, generation },
            { $set: { ...emptied(counts.length, now), position }, $inc: { version: 1, generation: 1 } },
          )
          return
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
        }
      }
      throw new Error(`stream ${_id} found no position`)
    },
  }
}

/** A stream of the watch; an index makes its `position` in its order, from 1 on, unique. */
export type StreamDocument = StoredStream &
  StreamPlace &
  Sum & {
    /** How often it began: once, and once more whenever an alarm was lifted. */
    generation: number
    /** When the alarm was stored; null once it was acted on. */
    alarmDueAt: Date | null
    startedAt: Date
    updatedAt: Date
    /** Facts that a release before the journal has counted, and left with their rounds. */
    applied?: readonly string[]
  }

/** What an alarm does: takes its game down for new rounds everywhere, or only notifies operations. */
export type AlarmRule = 'take-down' | 'tell'

export type AlarmDocument = WithAudit & {
  _id: string
  game: string
  open: boolean
  stream: StreamDocument
  rule: AlarmRule
  raisedAt: Date
  liftedAt: Date | null
  liftedBy: string | null
  liftReason: string | null
}

export function newStreamDocument(step: StreamStep, position: number, at: Date): StreamDocument {
  const { staked: _staked, paid: _paid, outcome: _outcome, outcomes, ...place } = step
  const own = { _id: streamKey(step), version: 1, generation: 1, cursors: {} }
  return { ...own, ...place, position, ...emptied(outcomes, at) }
}

function emptied(outcomes: number, at: Date) {
  return {
    counts: Array.from({ length: outcomes }, () => 0),
    ...{ log: 0, staked: '0', paid: '0', points: [], startedAt: at, updatedAt: at },
    ...{ alarmedAt: null, crossing: null, alarmDueAt: null },
  }
}

/** Rounds of replicas that meet new streams at one moment. */
const meetingsMax = 50

type CountedStep = ReturnType<typeof countedSteps>[number]

/**
 * Folds entries into streams. A draw's entry is appended before its credit is paid, so the order does
 * not follow from what came out. Source: docs/rtp-watch.md.
 */
export function createReturnsFold({ db, catalogue }: { db: Db; catalogue: Catalogue }) {
  const streams = db.collection<StreamDocument>('return_streams')
  const sums = createSumStore(db, streams)

  return async function foldReturns(counted: readonly CountedEntry[], missing: readonly number[]) {
    const steps = counted.flatMap((one) => countedSteps(one, catalogue))
    const byStream = Map.groupBy(steps, ({ step }) => streamKey(step))
    if (byStream.size === 0) return
    await meet(byStream)
    for (const [id, items] of byStream)
      await foldItems(sums, id, { items, missing }, (stream, fresh) => {
        if (stream === null) throw new Error(`the stream ${id} of returns is gone`)
        return withSteps(stream, fresh)
      })
  }

  /** Inserts the streams that are met for the first time, each with the next position of its order. */
  async function meet(byStream: ReadonlyMap<string, readonly CountedStep[]>): Promise<void> {
    const ids = [...byStream.keys()]
    for (let meetings = 0; meetings < meetingsMax; meetings++) {
      const found = await streams.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
      const known = new Set(found.map(({ _id }) => _id))
      const firsts = ids.filter((id) => !known.has(id)).flatMap((id) => byStream.get(id)?.slice(0, 1) ?? [])
      if (firsts.length === 0) return
      const installation = await lastPosition(streams, 'installation')
      const last = { installation, account: await lastPosition(streams, 'account') }
      const met = firsts.map(({ step, at }) => newStreamDocument(step, ++last[step.share], at))
      try {
        await streams.insertMany(met, { ordered: false })
        return
      } catch (error) {
        // Another replica was first, with the stream or with the position.
        if (!isOnlyDuplicates(error)) throw error
      }
    }
    throw new Error('new streams of returns kept coming')
  }
}

async function lastPosition(streams: Collection<StreamDocument>, share: Share): Promise<number> {
  const last = await streams.findOne({ share }, { sort: { position: -1 }, projection: { position: 1 } })
  return last?.position ?? 0
}

function countedSteps({ entry, fields, facts }: CountedEntry, catalogue: Catalogue) {
  const round = { ...decodeRound(fields), scope: fields.scope }
  return facts.flatMap(({ id: factId, trials }) => {
    const steps = trials === undefined ? [] : stepsOf(round, trials, catalogue)
    return steps.map((step) => ({ entry, factId, at: fields.updatedAt, step }))
  })
}

function withSteps(stream: StreamDocument, counted: readonly CountedStep[]): StreamDocument {
  const fresh = counted.filter(({ factId }) => stream.applied?.includes(factId) !== true)
  const kept = fresh.reduce((before, { step, at }) => foldStep(before, step, at), keptStream(stream))
  const updatedAt = fresh.reduce((last, { at }) => (at > last ? at : last), stream.updatedAt)
  const { points, alarmedAt, crossing, evidence } = kept
  const crosses = stream.alarmedAt === null && alarmedAt !== null
  return {
    ...stream,
    ...{ counts: evidence.counts, log: evidence.log, points, alarmedAt, crossing, updatedAt },
    ...{ staked: String(kept.staked), paid: String(kept.paid) },
    ...(crosses ? { alarmDueAt: updatedAt } : {}),
  }
}
