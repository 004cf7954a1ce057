import type { AuditEntry } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import { auditedUpdate, auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import { insertedFirst, isDuplicateKey } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db, Filter } from 'mongodb'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { type AlarmDocument, emptied, lastPosition, type StreamDocument } from './returns-fold.ts'

const isDue = { alarmDueAt: { $gt: new Date(0) } }
const dueMax = 100
const restartsMax = 50

export const returnIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  return_streams: [
    // No two streams may have the same part of the error budget.
    { key: { share: 1, position: 1 }, name: 'share_position', unique: true },
    { key: { scope: 1, _id: 1 }, name: 'scope_id' },
    { key: { alarmDueAt: 1 }, name: 'alarm_due_at', partialFilterExpression: isDue },
  ],
  return_alarms: [
    { key: { game: 1 }, name: 'open_by_game', partialFilterExpression: { open: true } },
    auditOutboxIndex,
  ],
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

    /** Whether an alarm of the game is open that took it down. */
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
