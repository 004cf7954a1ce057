import type { Scope } from '@pitboss/contracts/caller'
import type { Db } from 'mongodb'
import type { IndexDeclaration } from './ensure-indexes.ts'
import { insertedFirst, isOnlyDuplicates } from './create-once.ts'

export const minuteMs = 60_000
const hourMs = 60 * minuteMs
const keptDays = 35
const writesMax = 500
/** A read of a month is 744 documents at most. */
const readMaxMs = 5000

/** Counters of one minute by name. A name has neither a dot nor a dollar sign. */
export type Counters = Readonly<Record<string, number>>

/** What is counted together: an endpoint by its id, or the wallet of an account and environment. */
export type FigureSubject = { readonly scope: Scope; readonly subject: string }

/** The counters of a subject for the minute that begins at `at`. */
export type MinuteFigures = FigureSubject & { readonly at: Date; readonly counters: Counters }

/** An hour of a subject, minute by minute. */
type HourDocument = {
  _id: string
  operatorId: string
  environment: Scope['environment']
  subject: string
  hour: Date
  /** When the records were read from which the latest write was made. */
  readAt: Date
  /** By minute of the hour. */
  minutes: Record<string, Counters>
}

/** How far figures are final. One document. */
type ProgressDocument = { _id: 'final'; until: Date }

/** Declare them with the service's collections. */
export const figureIndexes: Readonly<Record<'figures' | 'figure_progress', readonly IndexDeclaration[]>> = {
  figures: [{ key: { hour: 1 }, name: 'hour', expireAfterSeconds: keptDays * 24 * 3600 }],
  figure_progress: [],
}

export type FiguresStore = ReturnType<typeof createFiguresStore>

/** Figures by minute; each is a value that replaces an earlier one, so writing it again changes nothing. */
export function createFiguresStore(db: Db) {
  const hours = db.collection<HourDocument>('figures')
  const progress = db.collection<ProgressDocument>('figure_progress')

  return {
    /** The time up to which figures are final; null before the first run. */
    async finalUntil(): Promise<Date | null> {
      return (await progress.findOne({ _id: 'final' }))?.until ?? null
    },

    /** Sets that time where there is none. */
    async begin(until: Date): Promise<void> {
      await insertedFirst(() => progress.insertOne({ _id: 'final', until }))
    },

    /** Moves that time forward; it never goes back. */
    async moveFinal(until: Date): Promise<void> {
      await progress.updateOne({ _id: 'final', until: { $lt: until } }, { $set: { until } })
    },

    /**
     * Writes minutes: one write for each subject and hour. A process that stood still since `readAt` changes
     * nothing in an hour that was written from a later reading.
     */
    async put(figures: readonly MinuteFigures[], readAt: Date): Promise<void> {
      const byHour = Map.groupBy(figures, ({ scope, subject, at }) => idOf(scope, subject, hourOf(at)))
      const writes = [...byHour].flatMap(([_id, [first, ...others]]) => {
        if (first === undefined) return []
        const { scope, subject, at } = first
        const { operatorId, environment } = scope
        const minutes = Object.fromEntries(
          [first, ...others].map((one) => [`minutes.${minuteOf(one.at)}`, one.counters]),
        )
        const fields = { operatorId, environment, subject, hour: hourOf(at), readAt }
        const filter = { _id, readAt: { $lt: readAt } }
        return [{ updateOne: { filter, update: { $set: { ...fields, ...minutes } }, upsert: true } }]
      })
      for (let start = 0; start < writes.length; start += writesMax) {
        try {
          await hours.bulkWrite(writes.slice(start, start + writesMax), { ordered: false })
        } catch (error) {
          // The hour is there, from a later reading.
          if (!isOnlyDuplicates(error)) throw error
        }
      }
    },

    /** The minutes of a subject that begin at `from` or later and before `to`, in order. */
    async read(
      scope: Scope,
      subject: string,
      from: Date,
      to: Date,
    ): Promise<{ at: Date; counters: Counters }[]> {
      const ids = { $gte: idOf(scope, subject, hourOf(from)), $lte: idOf(scope, subject, hourOf(to)) }
      const found = await hours
        .find({ _id: ids, operatorId: scope.operatorId, environment: scope.environment, subject })
        .sort({ _id: 1 })
        .maxTimeMS(readMaxMs)
        .toArray()
      return found
        .flatMap(({ hour, minutes }) =>
          Object.entries(minutes).map(([minute, counters]) => ({
            at: new Date(hour.getTime() + Number.parseInt(minute, 10) * minuteMs),
            counters,
          })),
        )
        .filter(({ at }) => at >= from && at < to)
        .toSorted((a, b) => a.at.getTime() - b.at.getTime())
    },
  }
}

function idOf({ operatorId, environment }: Scope, subject: string, hour: Date): string {
  return `${operatorId}/${environment}/${subject}/${hour.toISOString()}`
}

function hourOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs)
}

function minuteOf(at: Date): number {
  return Math.floor((at.getTime() % hourMs) / minuteMs)
}
