import { amongKeys } from '@pitboss/storage/among-keys'
import { emptyLists } from '@pitboss/storage/empty-lists'
import type { Db } from 'mongodb'
import { keyOf, type RoundDocument } from './round-document.ts'

const epoch = new Date(0)
const batchMax = 200
const byFacts = { factsAt: { $gt: epoch } }

type Key = Pick<RoundDocument, '_id' | 'chain'>

export type RoundFacts = ReturnType<typeof createRoundFacts>

/** Creates the store of facts that rounds leave with themselves, until each fold has counted them. */
export function createRoundFacts({ db }: { db: Db }) {
  const rounds = db.collection<RoundDocument>('rounds')

  return {
    /**
     * Reads a batch of rounds with facts. Rounds that began first come first, whenever they were written: the
     * watch of returns looks after each chance, so the order must not follow from what came out.
     * Source: docs/rtp-watch.md.
     */
    async read(): Promise<RoundDocument[]> {
      const found = rounds.find(byFacts).sort({ factsAt: 1 }).hint('facts_at').limit(batchMax)
      return latestOfEach(await found.batchSize(batchMax).toArray())
    },

    /** Reads which facts, of these and of those applied before, their rounds still have; by ids. */
    async waiting(
      facts: readonly { readonly round: Key }[],
      applied: readonly string[],
    ): Promise<ReadonlySet<string>> {
      const projection = { facts: 1 }
      const asked = new Map(facts.map(({ round }) => [round._id, round]))
      const found = await Promise.all([
        rounds.find(amongKeys([...asked.values()].map(keyOf)), { projection }).toArray(),
        applied.length === 0
          ? []
          : rounds
              .find({ ...byFacts, 'facts.id': { $in: [...applied] } }, { projection })
              .hint('facts_at')
              .toArray(),
      ])
      return new Set(found.flat().flatMap((document) => document.facts.map(({ id }) => id)))
    },

    /**
     * Removes counted facts from their rounds. It also unmarks a round that a crash left without facts, which
     * would be read first for ever.
     */
    async remove(counted: readonly (Key & Pick<RoundDocument, 'facts'>)[]): Promise<void> {
      const done = counted.map((round) => ({ key: keyOf(round), ids: round.facts.map(({ id }) => id) }))
      await emptyLists(rounds, { list: 'facts', since: 'factsAt' }, done)
    },
  }
}

/**
 * Each round once, as it was read last, in the order of their beginnings. A database without snapshots can
 * return a document twice that is written while an index is read.
 */
export function latestOfEach(documents: readonly RoundDocument[]): RoundDocument[] {
  const latest = [...new Map(documents.map((document) => [document._id, document])).values()]
  return latest.toSorted((a, b) => Number(a.factsAt) - Number(b.factsAt) || (a._id < b._id ? -1 : 1))
}
