import { isOnlyDuplicates } from '@pitboss/storage/create-once'
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb'
import type { Catalogue } from '../../../rules/catalogue.ts'
import {
  foldStep,
  keptStream,
  type Share,
  type StreamStep,
  stepsOf,
  streamKey,
} from '../rules/watched-streams.ts'
import { encodeStream, newStreamDocument, type StreamDocument } from './return-document.ts'
import type { RoundDocument } from '../../../storage/round-document.ts'
import type { RoundFacts } from '../../../storage/round-facts.ts'

const fenceLossesMax = 20
/** Rounds of replicas that meet new streams at one moment. */
const meetingsMax = 50

/** Steps of one fact for one stream. */
type FactSteps = {
  readonly factId: string
  readonly round: Pick<RoundDocument, '_id' | 'chain'>
  readonly at: Date
  readonly steps: StreamStep[]
}

/** Counts the chances of facts that wait with these rounds; to be done before they leave the rounds. */
export type FoldReturns = (documents: readonly RoundDocument[]) => Promise<void>

/**
 * Creates the fold of facts into the streams of the watch. As in the reports a fact leaves its round only
 * after every stream has it, a stream is written under its version, and names the facts that it has: so each
 * chance counts once, whichever process dies in between, however many fold.
 */
export function createReturnsFold({
  db,
  facts,
  catalogue,
}: {
  db: Db
  facts: Pick<RoundFacts, 'waiting'>
  catalogue: Catalogue
}): FoldReturns {
  const streams = db.collection<StreamDocument>('return_streams')

  return async function foldReturns(documents) {
    const byStream = groupByStream(documents, catalogue)
    if (byStream.size === 0) return
    await meet(byStream)
    for (let losses = 0; losses < fenceLossesMax; losses++) {
      const present = await streams.find({ _id: { $in: [...byStream.keys()] } }).toArray()
      // Asked after the streams were read: a fact that has left its round since is in a later version of
      // them.
      const waiting = await facts.waiting([...byStream.values()].flat(), [
        ...new Set(present.flatMap(({ applied }) => applied)),
      ])
      const writes = present.flatMap((stream) => {
        const fresh = (byStream.get(stream._id) ?? []).filter(
          ({ factId }) => waiting.has(factId) && !stream.applied.includes(factId),
        )
        return fresh.length === 0 ? [] : [writeOf(stream, fresh, waiting)]
      })
      if (writes.length === 0) return
      const { matchedCount } = await streams.bulkWrite(writes, { ordered: false })
      if (matchedCount === writes.length) return
    }
    throw new Error('the streams of returns kept changing')
  }

  /** Inserts the streams that are met for the first time, each with the next position of its order. */
  async function meet(byStream: ReadonlyMap<string, readonly FactSteps[]>): Promise<void> {
    const ids = [...byStream.keys()]
    for (let meetings = 0; meetings < meetingsMax; meetings++) {
      const found = await streams.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
      const known = new Set(found.map(({ _id }) => _id))
      const firsts = ids
        .filter((id) => !known.has(id))
        .flatMap((id) => (byStream.get(id) ?? []).slice(0, 1))
        .flatMap(({ steps, at }) => steps.slice(0, 1).map((step) => ({ step, at })))
      if (firsts.length === 0) return
      const last = {
        installation: await lastPosition(streams, 'installation'),
        account: await lastPosition(streams, 'account'),
      }
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

/** The last position of an order that is taken; 0 for none. */
export async function lastPosition(streams: Collection<StreamDocument>, share: Share): Promise<number> {
  const last = await streams.findOne({ share }, { sort: { position: -1 }, projection: { position: 1 } })
  return last?.position ?? 0
}

function groupByStream(
  documents: readonly RoundDocument[],
  catalogue: Catalogue,
): ReadonlyMap<string, readonly FactSteps[]> {
  const groups = new Map<string, FactSteps[]>()
  for (const document of documents) {
    for (const { id: factId, trials } of document.facts) {
      if (trials === undefined) continue
      const round = {
        ...document,
        bet: document.bet === null ? null : JSON.parse(document.bet),
        outcome: document.outcome === null ? null : JSON.parse(document.outcome),
        stake: BigInt(document.stake),
        payout: document.payout === null ? null : BigInt(document.payout),
      }
      for (const step of stepsOf(round, trials, catalogue)) {
        const key = streamKey(step)
        const group = groups.get(key) ?? []
        const [same] = group.slice(-1)
        if (same?.factId === factId) same.steps.push(step)
        else group.push({ factId, round: document, at: document.updatedAt, steps: [step] })
        groups.set(key, group)
      }
    }
  }
  return groups
}

function writeOf(
  stream: StreamDocument,
  fresh: readonly FactSteps[],
  waiting: ReadonlySet<string>,
): AnyBulkWriteOperation<StreamDocument> {
  let kept = keptStream(stream)
  for (const { steps, at } of fresh) for (const step of steps) kept = foldStep(kept, step, at)
  const latest = fresh.reduce((last, { at }) => (at > last ? at : last), stream.updatedAt)
  const crosses = stream.alarmedAt === null && kept.alarmedAt !== null
  const fields = {
    ...encodeStream(kept),
    updatedAt: latest,
    ...(crosses ? { alarmDueAt: latest } : {}),
    applied: [...stream.applied.filter((id) => waiting.has(id)), ...fresh.map(({ factId }) => factId)],
  }
  return {
    updateOne: {
      filter: { _id: stream._id, version: stream.version },
      update: { $set: fields, $inc: { version: 1 } },
    },
  }
}
