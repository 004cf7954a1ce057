import { ServiceError } from '@pitboss/errors/service-error'
import { readMaxMs } from '@pitboss/storage/bounded-read'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { AnyBulkWriteOperation, Db } from 'mongodb'
import * as report from '../rules/report.ts'
import type { BringsPlayer, ReportFact, UnitGroup } from './report-facts.ts'

const seenMax = 50_000
/** Players that a report names in one part of its window; about 60 MB. Source: ours. */
const namedMax = 200_000
/** A hundred years: a bound for the loop. */
const monthsMax = 1200
const cursorBatch = 20_000
const onlyAll: readonly report.Grouping[] = ['all']

/**
 * A player in a day or an hour. `by` is the fact that brought the player and never changes: with it the unit
 * counts the player once, whichever process dies. Days have one for each grouping.
 */
type PlayerDocument = report.CellPlace &
  Pick<UnitGroup, 'scope' | 'grain' | 'unit'> & {
    _id: string
    grouping: report.Grouping
    playerId: string
    by: string
  }

/** A player's months in a game, currency and brand: one document a year instead of a dozen. */
type MonthsDocument = report.CellPlace & { _id: string; scope: string; playerId: string; months: string[] }

type Window = { scope: string; grain: report.Grain; unit: { $gte: string; $lt: string } }

export const reportPlayerIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  report_players: [{ key: { scope: 1, grain: 1, unit: 1 }, name: 'scope_grain_unit' }],
  report_player_months: [{ key: { scope: 1, months: 1 }, name: 'scope_months' }],
}

export type ReportPlayers = ReturnType<typeof createReportPlayers>

export function createReportPlayers({ db, playersMax = namedMax }: { db: Db; playersMax?: number }) {
  const players = db.collection<PlayerDocument>('report_players')
  const months = db.collection<MonthsDocument>('report_player_months')
  const seen = new Map<string, string>()
  const seenInMonth = new Set<string>()

  return {
    /** Records the players of these facts; to be done before a unit counts them. */
    async record(groups: ReadonlyMap<string, UnitGroup>): Promise<BringsPlayer> {
      const documents = new Map<string, PlayerDocument>()
      const monthly = new Map<string, { fact: ReportFact; month: string }>()
      for (const [id, { scope, grain, unit, facts }] of groups) {
        // A late correction brings no player: the first fact of its round has.
        for (const fact of facts.filter(({ rounds }) => rounds > 0)) {
          if (grain === 'month') {
            monthly.set(documentId(id, 'all', fact), { fact, month: unit })
            continue
          }
          for (const grouping of grain === 'day' ? report.groupings : onlyAll) {
            const _id = documentId(id, grouping, fact)
            const { playerId, id: by } = fact
            const place = { scope, grain, unit, ...report.placeIn(grouping, report.placeOf(fact)) }
            if (!documents.has(_id)) documents.set(_id, { _id, ...place, grouping, playerId, by })
          }
        }
      }
      await recordMonths(monthly)
      if (seen.size > seenMax) seen.clear()
      const unknown = [...documents.values()].filter(({ _id }) => !seen.has(_id))
      if (unknown.length > 0) await store(unknown)
      const firsts = new Map([...documents.keys()].map((_id) => [_id, seen.get(_id)]))
      return (unitId, grouping, fact) =>
        groups.get(unitId)?.grain === 'day' && firsts.get(documentId(unitId, grouping, fact)) === fact.id
    },

    /** The players of whole units by grouping. @throws ServiceError SERVICE_UNAVAILABLE for too many */
    async distinct(window: Window, by: ReadonlySet<report.ReportDimension>): Promise<report.ReportPlayer[]> {
      const found = await (window.grain === 'month' ? inMonths(window, by) : inUnits(window, by))
      if (found.length <= playersMax) return found
      const message = 'Too many players to count together. Ask for a shorter window, or group by day.'
      throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 1 })
    },
  }

  /** Inserts documents that are missing and reads all of them back: the first write decides. */
  async function store(documents: readonly PlayerDocument[]): Promise<void> {
    await players.bulkWrite(
      documents.map(({ _id, ...fields }) => ({
        updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
      })),
      { ordered: false },
    )
    const stored = await players
      .find({ _id: { $in: documents.map(({ _id }) => _id) } }, { projection: { by: 1 } })
      .toArray()
    for (const { _id, by } of stored) seen.set(_id, by)
  }

  async function recordMonths(monthly: ReadonlyMap<string, { fact: ReportFact; month: string }>) {
    const unknown = [...monthly].filter(([id]) => !seenInMonth.has(id))
    if (unknown.length === 0) return
    const writes = unknown.map(([, { fact, month }]): AnyBulkWriteOperation<MonthsDocument> => {
      const { scope, playerId } = fact
      const fields = { scope, ...report.placeOf(fact), playerId }
      const _id = documentId(scope, 'all', fact)
      const update = { $setOnInsert: fields, $addToSet: { months: month } }
      return { updateOne: { filter: { _id }, update, upsert: true } }
    })
    await months.bulkWrite(writes, { ordered: false })
    if (seenInMonth.size > seenMax) seenInMonth.clear()
    for (const [id] of unknown) seenInMonth.add(id)
  }

  async function inMonths({ scope, unit }: Window, by: ReadonlySet<report.ReportDimension>) {
    const found = await months
      .find(
        { scope, months: { $in: monthsFrom(unit) } },
        { projection: { _id: 0, months: 0, scope: 0 }, batchSize: cursorBatch, maxTimeMS: readMaxMs },
      )
      .limit(playersMax + 1)
      .toArray()
    const grouping = report.groupingOf(by)
    return found.map(({ playerId, ...place }) => ({ unit: '', ...report.placeIn(grouping, place), playerId }))
  }

  async function inUnits(window: Window, by: ReadonlySet<report.ReportDimension>) {
    const divisions = [...by].map((one) => (one === 'day' ? 'unit' : one))
    const _id = Object.fromEntries(['playerId', 'currency', ...divisions].map((name) => [name, `$${name}`]))
    type Named = Pick<report.ReportPlayer, 'playerId' | 'currency'> & Partial<report.ReportPlayer>
    const found = await players
      .aggregate<{ _id: Named }>(
        [{ $match: { ...window, grouping: 'all' } }, { $group: { _id } }, { $limit: playersMax + 1 }],
        { batchSize: cursorBatch, maxTimeMS: readMaxMs },
      )
      .toArray()
    return found.map(({ _id: place }) => ({ unit: '', game: '', brand: '', ...place }))
  }
}

/** Every month of a window, as "2026-11"; its end is exclusive. */
function monthsFrom({ $gte, $lt }: Window['unit']): string[] {
  const months: string[] = []
  for (let at = new Date(`${$gte}-01T00:00:00.000Z`); ; at.setUTCMonth(at.getUTCMonth() + 1)) {
    const month = report.unitOf(at, 'month')
    if (month >= $lt || months.length >= monthsMax) return months
    months.push(month)
  }
}

function documentId(unit: string, grouping: report.Grouping, fact: ReportFact): string {
  return `${unit}|${grouping}|${report.placeKey(report.placeIn(grouping, report.placeOf(fact)))}|${fact.playerId}`
}
