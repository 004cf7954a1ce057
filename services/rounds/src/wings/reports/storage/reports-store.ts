import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { boundedRead, readMaxMs, readToEnd } from '@pitboss/storage/bounded-read'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { createSumStore } from '@pitboss/storage/journal/fold'
import type { Db } from 'mongodb'
import { type Moved, roundTotals } from '../../../rules/round.ts'
import { decodeMinor, type PackedRound, type RoundFields } from '../../../storage/round-document.ts'
import type { CountedEntry } from '../../../storage/rounds-journal.ts'
import * as report from '../rules/report.ts'
import { foldUnits, type ReportFact, revenueOf, type UnitDocument } from './report-facts.ts'
import { createReportPlayers, reportPlayerIndexes } from './report-players.ts'

const cursorBatch = 1000

type ReportRead = { parts: report.ReportPart[]; players: report.ReportPlayer[] }

type RawRound = Pick<PackedRound, 'game' | 'currency' | 'brandId' | 'playerId' | 'stakes' | 'wins'> & {
  readonly completedAt: Date
}
const rawFields = {
  ...{ _id: 0, completedAt: 1, stakes: 1, wins: 1 },
  ...{ game: 1, currency: 1, brandId: 1, playerId: 1 },
}

export const reportIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  report_units: [{ key: { scope: 1, grain: 1, unit: 1 }, name: 'scope_grain_unit' }],
  ...reportPlayerIndexes,
  report_adjustments: [
    { key: { scope: 1, at: 1 }, name: 'scope_at' },
    { key: { scope: 1, endedAt: 1 }, name: 'scope_ended' },
  ],
}

export type ReportsStore = ReturnType<typeof createReportsStore>

export function createReportsStore({ db }: { db: Db }) {
  const rounds = db.collection<PackedRound>('rounds')
  const units = db.collection<UnitDocument>('report_units')
  const players = createReportPlayers({ db })
  const adjustments = createReportAdjustments({ db })

  /** Reads less than an hour: rounds as they were at their end, changes since at their own time. */
  async function readRaw(scope: Scope, { from, to }: report.Segment): Promise<ReportRead> {
    const ended = { scope: scopeKey(scope), completedAt: { $gte: from, $lt: to }, started: true }
    const parts = new Map<string, report.ReportPart>()
    const add = (place: Omit<report.ReportPlayer, 'playerId'>, sums: Partial<report.CellSums>) => {
      const key = JSON.stringify(place)
      const before = parts.get(key) ?? { ...place, ...report.noSums, players: 0 }
      parts.set(key, report.addSums(before, { ...report.noSums, ...sums }))
    }
    const played = new Map<string, report.ReportPlayer>()
    const found = rounds.find(ended, { maxTimeMS: readMaxMs, batchSize: cursorBatch })
    for await (const one of found.project<RawRound>(rawFields)) {
      const { playerId } = one
      const place = { unit: report.unitOf(one.completedAt, 'hour'), ...report.placeOf(one) }
      const totals = roundTotals({ stakes: one.stakes.map(decodeMinor), wins: one.wins.map(decodeMinor) })
      add(place, { ...totals, rounds: 1 })
      played.set(`${JSON.stringify(place)}${playerId}`, { ...place, playerId })
    }
    for (const one of await adjustments.within(scope, 'endedAt', from, to)) {
      const { stakes, payouts, refunds } = one
      const place = { unit: report.unitOf(one.endedAt, 'hour'), ...report.placeOf(one) }
      add(place, { stakes: -stakes, payouts: -payouts, refunds: -refunds })
    }
    for (const one of await adjustments.within(scope, 'at', from, to))
      add({ unit: report.unitOf(one.at, 'hour'), ...report.placeOf(one) }, { adjustments: revenueOf(one) })
    return { parts: [...parts.values()], players: [...played.values()] }
  }

  return {
    fold: (counted: readonly CountedEntry[], missing: readonly number[]) =>
      foldUnits({ sums: createSumStore(db, units), players, adjustments }, counted, missing),
    restated: adjustments.restated,

    async read(
      scope: Scope,
      segment: report.Segment,
      by: ReadonlySet<report.ReportDimension>,
    ): Promise<ReportRead> {
      if (segment.grain === 'raw') return boundedRead(() => readRaw(scope, segment))
      const { grain } = segment
      const window = {
        scope: scopeKey(scope),
        grain,
        unit: { $gte: report.unitOf(segment.from, grain), $lt: report.unitOf(segment.to, grain) },
      }
      const grouping = report.groupingOf(by)
      // A whole day is in no other segment, so its players are counted already.
      const isCounted = grain === 'day' && by.has('day')
      const projection = { _id: 0, unit: 1, [`cells.${grouping}`]: 1 }
      const [found, named] = await boundedRead(() =>
        Promise.all([
          units.find(window, { projection, batchSize: cursorBatch, maxTimeMS: readMaxMs }).toArray(),
          isCounted ? [] : players.distinct(window, by),
        ]),
      )
      const parts = found.flatMap(({ unit, cells }) =>
        report.decodeCells(cells[grouping]).map(({ players, ...cell }) => {
          return { unit, ...cell, players: isCounted ? players : 0 }
        }),
      )
      return { parts, players: named }
    },
  }
}

/** A change of a round after its end: what it changed, when, and when the round had ended. */
type AdjustmentDocument = Moved<string> &
  Pick<RoundFields, 'scope' | 'game' | 'currency' | 'brandId'> & {
    _id: string
    at: Date
    endedAt: Date
    /** The UTC day on which the round ended, where that is another than the day of the change; else null. */
    restates: string | null
  }
export type Restatement = Pick<AdjustmentDocument, 'game' | 'currency' | 'brandId'> & {
  readonly day: string
  readonly at: Date
}

export type ReportAdjustments = ReturnType<typeof createReportAdjustments>

export function createReportAdjustments({ db }: { db: Db }) {
  const adjustments = db.collection<AdjustmentDocument>('report_adjustments')

  return {
    /** Records the changes among these facts, each once; to be done before units count them. */
    async record(facts: readonly Omit<ReportFact, 'entry'>[]): Promise<void> {
      const writes = facts.flatMap(({ id: _id, scope, game, currency, brandId, at, adjusted }) => {
        if (adjusted === null) return []
        const { endedAt, stakes, payouts, refunds } = adjusted
        const [day, ownDay] = [report.unitOf(endedAt, 'day'), report.unitOf(at, 'day')]
        const sums = { stakes: String(stakes), payouts: String(payouts), refunds: String(refunds) }
        const place = { scope, game, currency, brandId, at, endedAt, restates: day === ownDay ? null : day }
        return [
          { updateOne: { filter: { _id }, update: { $setOnInsert: { ...place, ...sums } }, upsert: true } },
        ]
      })
      if (writes.length > 0) await adjustments.bulkWrite(writes, { ordered: false })
    },

    /** The changes that were made in a time, or whose rounds ended in it. Ends are exclusive. */
    async within(scope: Scope, by: 'at' | 'endedAt', from: Date, to: Date) {
      const found = await adjustments
        .find({ scope: scopeKey(scope), [by]: { $gte: from, $lt: to } })
        .maxTimeMS(readMaxMs)
        .toArray()
      return found.map((one) => ({ ...one, ...report.minorSums(one) }))
    },

    /** The days of a time whose rounds have changed on a later day, by place. Ends are exclusive. */
    async restated(scope: Scope, from: Date, to: Date): Promise<Restatement[]> {
      const match = { scope: scopeKey(scope), endedAt: { $gte: from, $lt: to }, restates: { $gt: '' } }
      const _id = { day: '$restates', game: '$game', currency: '$currency', brandId: '$brandId' }
      const found = await readToEnd(
        adjustments.aggregate<{ _id: Omit<Restatement, 'at'>; at: Date }>([
          { $match: match },
          { $group: { _id, at: { $max: '$at' } } },
        ]),
      )
      return found.map(({ _id: place, at }) => ({ ...place, at }))
    },
  }
}
