import { amongKeys } from '@pitboss/storage/among-keys'
import type { Collection } from 'mongodb'
import { keyOf, type RoundDocument } from './round-document.ts'

const epoch = new Date(0)

export type WaitingFacts = (
  facts: readonly { readonly round: Pick<RoundDocument, '_id' | 'chain'> }[],
  applied: readonly string[],
) => Promise<ReadonlySet<string>>

/**
 * Creates the question which facts, of these and of those applied before, their rounds still hold; by ids.
 */
export function createWaitingFacts({ rounds }: { rounds: Collection<RoundDocument> }): WaitingFacts {
  return async function waitingFacts(facts, applied) {
    const projection = { facts: 1 }
    const asked = new Map(facts.map(({ round }) => [round._id, round]))
    const found = await Promise.all([
      rounds.find(amongKeys([...asked.values()].map(keyOf)), { projection }).toArray(),
      applied.length === 0
        ? []
        : rounds
            .find({ factsAt: { $gt: epoch }, 'facts.id': { $in: [...applied] } }, { projection })
            .hint('facts_at')
            .toArray(),
    ])
    return new Set(found.flat().flatMap((document) => document.facts.map(({ id }) => id)))
  }
}
