import { type Grain, unitOf } from '../rules/report-segments.ts'
import type { RoundDocument } from './round-document.ts'

const grains: readonly Grain[] = ['month', 'day', 'hour']

/** What a round has left to be counted, and where it belongs. */
export type PendingFact = {
  readonly id: string
  readonly scope: string
  readonly game: string
  readonly currency: string
  readonly brandId: string | null
  readonly roundId: string
  readonly playerId: string
  readonly at: Date
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}

/** Facts that go into one unit of time of an account. */
export type UnitGroup = {
  readonly scope: string
  readonly grain: Grain
  readonly unit: string
  readonly facts: PendingFact[]
}

/** The facts that wait in a round. */
export function pendingFacts(document: RoundDocument): PendingFact[] {
  const { _id, scope, game, currency, brandId, playerId, completedAt, facts } = document
  return facts.map(({ id, rounds, stakes, payouts, refunds }) => ({
    id,
    roundId: _id,
    scope,
    game,
    currency,
    brandId,
    playerId,
    at: completedAt ?? document.updatedAt,
    rounds,
    stakes: BigInt(stakes),
    payouts: BigInt(payouts),
    refunds: BigInt(refunds),
  }))
}

/** Every fact goes into one unit of each grain. */
export function groupByUnit(facts: readonly PendingFact[]): Map<string, UnitGroup> {
  const groups = new Map<string, UnitGroup>()
  for (const fact of facts) {
    for (const grain of grains) {
      const { scope } = fact
      const unit = unitOf(fact.at, grain)
      const id = unitId(scope, grain, unit)
      const group = groups.get(id) ?? { scope, grain, unit, facts: [] }
      group.facts.push(fact)
      groups.set(id, group)
    }
  }
  return groups
}

function unitId(scope: string, grain: Grain, unit: string): string {
  return `${scope}|${grain}|${unit}`
}
