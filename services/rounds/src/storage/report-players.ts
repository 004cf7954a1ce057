import type { Db } from 'mongodb'
import { type CellPlace, countedPlaces, encodePlace } from '../domain/report-cells.ts'
import type { ReportDimension } from '../domain/report-rows.ts'
import type { Grain } from '../domain/report-segments.ts'
import type { PendingFact, UnitGroup } from './report-facts.ts'
import type { ReportPlayer } from './reports-store.ts'

const seenMax = 50_000

/**
 * A player who played in a unit of time, once for every place in which the unit counts players. `by` is the fact that brought the player
 * there and never changes: the unit counts the player when it counts that fact, so once, whatever dies in between.
 */
type PlayerDocument = {
  _id: string
  scope: string
  grain: Grain
  unit: string
  game: string | null
  currency: string
  brand: string | null
  /** Of the finest place; the others are for counts alone. */
  finest: boolean
  playerId: string
  by: string
}

type Distinct = { playerId: string; currency: string; unit?: string; game?: string; brand?: string }

/** What is known of the players of a batch of facts. */
export type PlayersOfUnit = {
  /** The places of the unit into which these facts brought a new player, once for each player. */
  broughtBy(unit: string, facts: readonly PendingFact[]): string[]
}

export type ReportPlayers = ReturnType<typeof createReportPlayers>

/** Who played when and where, for distinct counts. */
export function createReportPlayers({ db }: { db: Db }) {
  const players = db.collection<PlayerDocument>('report_players')
  /** Document id to the fact that brought the player. */
  const seen = new Map<string, string>()

  return {
    /** Writes down the players of these facts; to be done before a unit counts them. */
    async record(groups: ReadonlyMap<string, UnitGroup>): Promise<PlayersOfUnit> {
      const documents = new Map<string, PlayerDocument>()
      for (const [id, { scope, grain, unit, facts }] of groups) {
        for (const fact of facts) {
          for (const place of placesOf(fact, grain)) {
            const _id = documentId(id, place, fact)
            if (documents.has(_id)) continue
            const finest = place.game !== null && place.brand !== null
            const { playerId, id: by } = fact
            documents.set(_id, { _id, scope, grain, unit, ...place, finest, playerId, by })
          }
        }
      }
      if (seen.size > seenMax) seen.clear()
      const unknown = [...documents.values()].filter(({ _id }) => !seen.has(_id))
      if (unknown.length > 0) await store(unknown)
      const firsts = new Map([...documents.keys()].map((_id) => [_id, seen.get(_id)]))
      return {
        broughtBy(unit, facts) {
          const grain = groups.get(unit)?.grain
          if (grain === undefined) return []
          return facts.flatMap((fact) =>
            placesOf(fact, grain)
              .filter((place) => firsts.get(documentId(unit, place, fact)) === fact.id)
              .map(encodePlace),
          )
        },
      }
    },

    /** The players of whole units, each once per grouping of the report. */
    async distinct(window: object, by: ReadonlySet<ReportDimension>): Promise<ReportPlayer[]> {
      const _id = {
        playerId: '$playerId',
        currency: '$currency',
        ...(by.has('day') ? { unit: '$unit' } : {}),
        ...(by.has('game') ? { game: '$game' } : {}),
        ...(by.has('brand') ? { brand: '$brand' } : {}),
      }
      const found = await players
        .aggregate<{ _id: Distinct }>([{ $match: { ...window, finest: true } }, { $group: { _id } }])
        .toArray()
      return found.map(({ _id: { playerId, currency, unit = '', game = '', brand = '' } }) => ({
        unit,
        game,
        currency,
        brandId: brand || null,
        playerId,
      }))
    },
  }

  /** Whoever is first decides; what lies there is read back. */
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
}

/** A late correction brings nobody: its round's own fact has. */
function placesOf({ rounds, game, currency, brandId }: PendingFact, grain: Grain): CellPlace[] {
  return rounds === 0 ? [] : countedPlaces(grain, { game, currency, brand: brandId ?? '' })
}

function documentId(unit: string, place: CellPlace, { playerId }: PendingFact): string {
  return `${unit}|${encodePlace(place)}|${playerId}`
}
