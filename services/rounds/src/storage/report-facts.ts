import { type Grain, unitOf } from '../domain/report-segments.ts'
import type { RoundDocument } from './round-document.ts'

export const grains: readonly Grain[] = ['month', 'day', 'hour']

export type Dimensions = {
  scope: string
  unit: string
  game: string
  currency: string
  brandId: string | null
}

/** What a round has left to be counted, and where it belongs. */
export type PendingFact = Omit<Dimensions, 'unit'> & {
  readonly id: string
  readonly roundId: string
  readonly playerId: string
  readonly at: Date
  readonly rounds: number
  readonly stakes: bigint
  readonly payouts: bigint
  readonly refunds: bigint
}

/** Facts that go into one bucket. */
export type BucketGroup = {
  readonly dimensions: Dimensions
  readonly grain: Grain
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

/** Every fact goes into one bucket of each grain. */
export function groupByBucket(facts: readonly PendingFact[]): Map<string, BucketGroup> {
  const groups = new Map<string, BucketGroup>()
  for (const fact of facts) {
    for (const grain of grains) {
      const dimensions = dimensionsOf(fact, grain)
      const id = bucketId(dimensions, grain)
      const group = groups.get(id) ?? { dimensions, grain, facts: [] }
      group.facts.push(fact)
      groups.set(id, group)
    }
  }
  return groups
}

export function dimensionsOf({ scope, game, currency, brandId, at }: PendingFact, grain: Grain): Dimensions {
  return { scope, unit: unitOf(at, grain), game, currency, brandId }
}

export function bucketId({ scope, unit, game, currency, brandId }: Dimensions, grain: Grain): string {
  return [scope, grain, unit, game, currency, brandId ?? ''].join('|')
}
