import { isOnlyDuplicates } from '@pitboss/storage/create-once'
import { createSumStore, fold, type Sum } from '@pitboss/storage/journal/fold'
import type { Collection, Db } from 'mongodb'
import type { WithAudit } from '@pitboss/storage/audit-outbox'
import type { Catalogue } from '../../../rules/catalogue.ts'
import { decodeRound } from '../../../storage/round-document.ts'
import type { RoundEntry } from '../../../storage/round-stream.ts'
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
  const { share, scope, currency, game, rules, shape, win, outcomes } = step
  const place = { share, scope, currency, game, rules, shape, win, position }
  const own = { _id: streamKey(step), version: 1, generation: 1, cursors: {} }
  return { ...own, ...place, ...emptied(outcomes, at) }
}

/** The fields of a stream that begins at `at`. */
export function emptied(outcomes: number, at: Date) {
  return {
    counts: Array.from({ length: outcomes }, () => 0),
    ...{ log: 0, staked: '0', paid: '0', points: [], startedAt: at, updatedAt: at },
    ...{ alarmedAt: null, crossing: null, alarmDueAt: null },
  }
}

/** Rounds of replicas that meet new streams at one moment. */
const meetingsMax = 50

type EntrySteps = {
  readonly entry: RoundEntry
  readonly factId: string
  readonly at: Date
  readonly steps: StreamStep[]
}

/**
 * Folds entries into streams. A draw's entry is appended before its credit is paid, so the order does
 * not follow from what came out. Source: docs/rtp-watch.md.
 */
export function createReturnsFold({ db, catalogue }: { db: Db; catalogue: Catalogue }) {
  const streams = db.collection<StreamDocument>('return_streams')
  const sums = createSumStore(db, streams)

  return async function foldReturns(counted: readonly CountedEntry[], missing: readonly number[]) {
    const byStream = groupByStream(counted, catalogue)
    if (byStream.size === 0) return
    await meet(byStream)
    for (const [id, all] of byStream) {
      const entries = [...new Set(all.map(({ entry }) => entry))]
      await fold(sums, id, { entries, missing }, (stream, fresh) => {
        if (stream === null) throw new Error(`the stream ${id} of returns is gone`)
        const isFresh = new Set(fresh)
        const counting = all.filter(({ entry }) => isFresh.has(entry))
        return withSteps(stream, counting)
      })
    }
  }

  /** Inserts the streams that are met for the first time, each with the next position of its order. */
  async function meet(byStream: ReadonlyMap<string, readonly EntrySteps[]>): Promise<void> {
    const ids = [...byStream.keys()]
    for (let meetings = 0; meetings < meetingsMax; meetings++) {
      const found = await streams.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
      const known = new Set(found.map(({ _id }) => _id))
      const firsts = ids
        .filter((id) => !known.has(id))
        .flatMap((id) => (byStream.get(id) ?? []).slice(0, 1))
        .flatMap(({ steps, at }) => steps.slice(0, 1).map((step) => ({ step, at })))
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

export async function lastPosition(streams: Collection<StreamDocument>, share: Share): Promise<number> {
  const last = await streams.findOne({ share }, { sort: { position: -1 }, projection: { position: 1 } })
  return last?.position ?? 0
}

function groupByStream(counted: readonly CountedEntry[], catalogue: Catalogue) {
  const groups = new Map<string, EntrySteps[]>()
  for (const { entry, fields, facts } of counted) {
    const round = { ...decodeRound(fields), scope: fields.scope }
    for (const { id: factId, trials } of facts) {
      if (trials === undefined) continue
      for (const step of stepsOf(round, trials, catalogue)) {
        const key = streamKey(step)
        const group = groups.get(key) ?? []
        const [same] = group.slice(-1)
        if (same?.factId === factId) same.steps.push(step)
        else group.push({ entry, factId, at: fields.updatedAt, steps: [step] })
        groups.set(key, group)
      }
    }
  }
  return groups
}

function withSteps(stream: StreamDocument, counted: readonly EntrySteps[]): StreamDocument {
  const fresh = counted.filter(({ factId }) => stream.applied?.includes(factId) !== true)
  let kept = keptStream(stream)
  for (const { steps, at } of fresh) for (const step of steps) kept = foldStep(kept, step, at)
  const latest = fresh.reduce((last, { at }) => (at > last ? at : last), stream.updatedAt)
  const crosses = stream.alarmedAt === null && kept.alarmedAt !== null
  return {
    ...stream,
    ...{ counts: kept.evidence.counts, log: kept.evidence.log, points: kept.points },
    ...{ staked: String(kept.staked), paid: String(kept.paid) },
    ...{ alarmedAt: kept.alarmedAt, crossing: kept.crossing },
    updatedAt: latest,
    ...(crosses ? { alarmDueAt: latest } : {}),
  }
}
