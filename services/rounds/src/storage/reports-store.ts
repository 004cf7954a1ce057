import type { Scope } from '@pitboss/contracts/caller'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { type Db, type Document, MongoServerError } from 'mongodb'
import { type Grain, type Segment, unitOf } from '../domain/report-segments.ts'
import type { ReportDimension } from '../domain/report-rows.ts'
import { roundTotals } from '../domain/round.ts'
import { addLimbs, fromLimbs, type Limbs, toLimbs } from './limbs.ts'
import {
  type BucketGroup,
  bucketId,
  type Dimensions,
  dimensionsOf,
  grains,
  groupByBucket,
  type PendingFact,
  pendingFacts,
} from './report-facts.ts'
import { decodeRound, type RoundDocument, scopeKey } from './round-document.ts'

const duplicateKey = 11_000
const epoch = new Date(0)
const batchMax = 200
const fenceLossesMax = 20
const seenPlayersMax = 50_000
/**
 * One unit of time, game, currency and brand. `applied` names the facts that are counted here and still wait with their rounds, so
 * that none is counted twice: see `applyFacts`.
 */
type BucketDocument = Dimensions & {
  _id: string
  version: number
  grain: Grain
  rounds: bigint
  stakes: Limbs
  payouts: Limbs
  refunds: Limbs
  applied: string[]
}
type PlayerDocument = Dimensions & { _id: string; grain: Grain; playerId: string }

/** Sums of one day (or unit), game, currency and brand, with who played. */
export type ReportPart = {
  readonly unit: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}
export type ReportPlayer = {
  readonly unit: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
  readonly playerId: string
}

export type PlayerCount = Omit<ReportPlayer, 'playerId'> & { readonly count: number }

/** What a distinct count is grouped by; what the report does not group by is missing. */
type GroupKey = { currency: string; unit?: string; game?: string; brandId?: string | null }

export const reportIndexes: Readonly<
  Record<'report_buckets' | 'report_players', readonly IndexDeclaration[]>
> = {
  report_buckets: [{ key: { scope: 1, grain: 1, unit: 1 }, name: 'scope_grain_unit' }],
  report_players: [{ key: { scope: 1, grain: 1, unit: 1 }, name: 'scope_grain_unit' }],
}

export type ReportsStore = ReturnType<typeof createReportsStore>

/** Exact sums, kept up to date from what rounds left with themselves. */
export function createReportsStore({ db }: { db: Db }) {
  const rounds = db.collection<RoundDocument>('rounds')
  const buckets = db.collection<BucketDocument>('report_buckets')
  const players = db.collection<PlayerDocument>('report_players')
  const seenPlayers = new Set<string>()

  /** Counts what waits, at most a batch; returns how many rounds had something. Safe beside another replica doing the same. */
  async function applyFacts(): Promise<number> {
    const waiting = await rounds
      .find({ factsAt: { $gt: epoch } })
      .sort({ factsAt: 1 })
      .limit(batchMax)
      .toArray()
    const facts = waiting.flatMap(pendingFacts)
    for (const [id, group] of groupByBucket(facts)) await applyToBucket(id, group)
    await recordPlayers(facts)
    await removeApplied(facts)
    return waiting.length
  }

  /**
   * Reads the bucket, then asks which facts still wait with their rounds, then writes under the bucket's version. A fact leaves its round only
   * after every bucket has it, so whoever read an older bucket either loses at the version or no longer finds the fact.
   */
  async function applyToBucket(id: string, group: BucketGroup): Promise<void> {
    for (let losses = 0; losses < fenceLossesMax; losses++) {
      const bucket = await buckets.findOne({ _id: id })
      const applied = bucket?.applied ?? []
      const waiting = await stillWaiting(group.facts, applied)
      const fresh = group.facts.filter((fact) => waiting.has(fact.id) && !applied.includes(fact.id))
      if (fresh.length === 0) return
      const next = [...applied.filter((one) => waiting.has(one)), ...fresh.map((fact) => fact.id)]
      if (await writeBucket(bucket, id, group, fresh, next)) return
    }
    throw new Error(`report bucket ${id} kept changing`)
  }

  /** The facts, of these and of those applied before, that their rounds still hold. */
  async function stillWaiting(
    facts: readonly PendingFact[],
    applied: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const documents = await rounds
      .find(
        {
          $or: [
            { _id: { $in: facts.map(({ roundId }) => roundId) } },
            ...(applied.length === 0 ? [] : [{ factsAt: { $gt: epoch }, 'facts.id': { $in: [...applied] } }]),
          ],
        },
        { projection: { facts: 1 } },
      )
      .toArray()
    return new Set(documents.flatMap((document) => document.facts.map(({ id }) => id)))
  }

  async function writeBucket(
    bucket: BucketDocument | null,
    id: string,
    { dimensions, grain }: BucketGroup,
    fresh: readonly PendingFact[],
    applied: string[],
  ): Promise<boolean> {
    const total = (field: 'stakes' | 'payouts' | 'refunds') =>
      fresh.map((fact) => toLimbs(fact[field])).reduce(addLimbs, toLimbs(0n))
    const sums = { stakes: total('stakes'), payouts: total('payouts'), refunds: total('refunds') }
    const count = BigInt(fresh.reduce((all, fact) => all + fact.rounds, 0))
    if (bucket === null) {
      return inserted({ _id: id, version: 1, ...dimensions, grain, rounds: count, ...sums, applied })
    }
    const increments: Document = {
      version: 1,
      rounds: count,
      ...prefixed('stakes', sums.stakes),
      ...prefixed('payouts', sums.payouts),
      ...prefixed('refunds', sums.refunds),
    }
    const { matchedCount } = await buckets.updateOne(
      { _id: id, version: bucket.version },
      { $inc: increments, $set: { applied } },
    )
    return matchedCount === 1
  }

  async function inserted(bucket: BucketDocument): Promise<boolean> {
    try {
      await buckets.insertOne(bucket)
      return true
    } catch (error) {
      if (error instanceof MongoServerError && error.code === duplicateKey) return false
      throw error
    }
  }

  async function recordPlayers(facts: readonly PendingFact[]): Promise<void> {
    const documents = new Map<string, PlayerDocument>()
    for (const fact of facts) {
      if (fact.rounds === 0) continue
      for (const grain of grains) {
        const dimensions = dimensionsOf(fact, grain)
        const _id = `${bucketId(dimensions, grain)}|${fact.playerId}`
        if (!seenPlayers.has(_id)) documents.set(_id, { _id, ...dimensions, grain, playerId: fact.playerId })
      }
    }
    if (documents.size === 0) return
    await players.bulkWrite(
      [...documents.values()].map(({ _id, ...fields }) => ({
        updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
      })),
      { ordered: false },
    )
    if (seenPlayers.size > seenPlayersMax) seenPlayers.clear()
    for (const id of documents.keys()) seenPlayers.add(id)
  }

  async function removeApplied(facts: readonly PendingFact[]): Promise<void> {
    if (facts.length === 0) return
    const ids = facts.map(({ id }) => id)
    const roundIds = [...new Set(facts.map(({ roundId }) => roundId))]
    await rounds.updateMany({ _id: { $in: roundIds } }, { $pull: { facts: { id: { $in: ids } } } })
    await rounds.updateMany({ _id: { $in: roundIds }, facts: { $size: 0 } }, { $set: { factsAt: null } })
  }

  return {
    applyFacts,

    /** The sums of a segment and its distinct players, grouped by what the report is grouped by. */
    async read(
      scope: Scope,
      segment: Segment,
      by: ReadonlySet<ReportDimension>,
    ): Promise<{ parts: ReportPart[]; players: ReportPlayer[]; playerCounts: PlayerCount[] }> {
      if (segment.grain === 'raw') return readRaw(scope, segment)
      const { grain } = segment
      const window = {
        scope: scopeKey(scope),
        grain,
        unit: { $gte: unitOf(segment.from, grain), $lt: unitOf(segment.to, grain) },
      }
      const found = buckets.find(window, { projection: { applied: 0 } }).toArray()
      const place = {
        currency: '$currency',
        ...(by.has('day') ? { unit: '$unit' } : {}),
        ...(by.has('game') ? { game: '$game' } : {}),
        ...(by.has('brand') ? { brandId: '$brandId' } : {}),
      }
      const distinct = [{ $match: window }, { $group: { _id: { ...place, playerId: '$playerId' } } }]
      // A whole day is in no other segment, so its players can be counted where they are.
      if (grain === 'day' && by.has('day')) {
        const counted = Object.fromEntries(Object.keys(place).map((field) => [field, `$_id.${field}`]))
        const counts = await players
          .aggregate<{ _id: GroupKey; count: number }>([
            ...distinct,
            { $group: { _id: counted, count: { $sum: 1 } } },
          ])
          .toArray()
        const playerCounts = counts.map(({ _id, count }) => ({ ...placeOf(_id), count: Number(count) }))
        return { parts: (await found).map(decodeBucket), players: [], playerCounts }
      }
      const played = await players.aggregate<{ _id: GroupKey & { playerId: string } }>(distinct).toArray()
      return {
        parts: (await found).map(decodeBucket),
        players: played.map(({ _id }) => ({ ...placeOf(_id), playerId: _id.playerId })),
        playerCounts: [],
      }
    },
  }

  async function readRaw(scope: Scope, { from, to }: Segment) {
    const documents = await rounds
      .find({ scope: scopeKey(scope), completedAt: { $gte: from, $lt: to }, started: true })
      .toArray()
    const parts: ReportPart[] = []
    const played: ReportPlayer[] = []
    for (const document of documents) {
      const { round } = decodeRound(document)
      const { game, currency, brandId, playerId } = round
      const dimensions = { unit: unitOf(round.completedAt ?? from, 'hour'), game, currency, brandId }
      parts.push({ ...dimensions, rounds: 1, ...roundTotals(round) })
      played.push({ ...dimensions, playerId })
    }
    return { parts, players: played, playerCounts: [] }
  }
}

function decodeBucket(bucket: Omit<BucketDocument, 'applied'>): ReportPart {
  const { unit, game, currency, brandId, rounds, stakes, payouts, refunds } = bucket
  return {
    unit,
    game,
    currency,
    brandId,
    rounds: Number(rounds),
    stakes: fromLimbs(stakes),
    payouts: fromLimbs(payouts),
    refunds: fromLimbs(refunds),
  }
}

function placeOf({ currency, unit = '', game = '', brandId = null }: GroupKey) {
  return { currency, unit, game, brandId }
}

function prefixed(field: string, { a, b, c, d }: Limbs): Record<string, bigint> {
  return { [`${field}.a`]: a, [`${field}.b`]: b, [`${field}.c`]: c, [`${field}.d`]: d }
}
