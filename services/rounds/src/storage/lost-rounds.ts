import type { Scope } from '@pitboss/contracts/caller'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { Collection } from 'mongodb'
import type { RoundState } from '../rules/round.ts'
import { decodeRound, playedIn, type RoundDocument, scopeKey } from './round-document.ts'
import { newDocument } from './write-round.ts'

/** More rounds of an account than end in one millisecond. */
const sameInstantMax = 1000

/** Creates the part of the store of rounds for the time after its database was restored. */
export function createLostRounds({ rounds }: { rounds: Collection<RoundDocument> }) {
  return {
    /** Of these ids, those that no round has. */
    async withoutRound(scope: Scope, transactionIds: readonly string[]): Promise<string[]> {
      const found = await rounds
        .find({ scope: scopeKey(scope), transactionIds: { $in: [...transactionIds] } })
        .project<Pick<RoundDocument, 'transactionIds'>>({ transactionIds: 1 })
        .toArray()
      const known = new Set(found.flatMap((document) => document.transactionIds))
      return transactionIds.filter((id) => !known.has(id))
    },

    /** Rounds that ended at `from` or later, by their end, after the one that is named. */
    async endedSince(
      scope: Scope,
      from: Date,
      { after, max }: { after: { readonly at: Date; readonly id: string } | null; max: number },
    ): Promise<RoundState[]> {
      const start = after?.at ?? from
      const documents = await rounds
        .find({ scope: scopeKey(scope), completedAt: { $gte: start } })
        .sort({ completedAt: 1, _id: 1 })
        .hint('scope_completed')
        .limit(after === null ? max : max + sameInstantMax)
        .toArray()
      return documents
        .map((document) => decodeRound(document).round)
        .filter(
          ({ id, completedAt }) =>
            after === null || completedAt?.getTime() !== start.getTime() || id > after.id,
        )
        .slice(0, max)
    },

    /** Whether no round of a sequence, and no place of one that is lost, has this nonce. */
    async nonceIsFree(sequence: string, nonce: number): Promise<boolean> {
      return (await rounds.findOne({ chain: sequence, nonce }, { projection: { _id: 1 } })) === null
    },

    hasPlace,

    /**
     * Moves a nonce sequence beyond a nonce whose round is lost, and beyond all before it: they are those of
     * lost rounds, too. Each holds the place of a round that is over, and no list and no search shows it.
     */
    async skipTo(sequence: string, nonce: number, round: RoundState): Promise<void> {
      // The last is inserted last: whoever finds it free does all of this again.
      for (let next = (await lastBefore(sequence, nonce)) + 1; next <= nonce; next++) {
        await insertPlace(placeId(next, sequence), sequence, next, round)
      }
    },

    /** Moves a nonce sequence beyond one more nonce, once for each lost round of which nobody knows it. */
    async skipNext(sequence: string, roundId: string, round: RoundState): Promise<void> {
      const id = placeId(roundId, sequence)
      while (!(await hasPlace(sequence, roundId))) {
        await insertPlace(id, sequence, (await lastBefore(sequence, null)) + 1, round)
      }
    },
  }

  /** Whether a place is kept for this lost round, of which nobody knows the nonce. */
  async function hasPlace(sequence: string, roundId: string): Promise<boolean> {
    const place = { _id: placeId(roundId, sequence), chain: sequence }
    return (await rounds.findOne(place, { projection: { _id: 1 } })) !== null
  }

  /** The highest nonce of a sequence, of those below this one; 0 for none. */
  async function lastBefore(sequence: string, nonce: number | null): Promise<number> {
    const options = { sort: { nonce: -1 }, projection: { nonce: 1 } } as const
    return (await rounds.findOne(playedIn(sequence, nonce), options))?.nonce ?? 0
  }

  /** Inserts the place, unless it or another round with this nonce is there. */
  async function insertPlace(id: string, sequence: string, nonce: number, round: RoundState): Promise<void> {
    const write = { round: { ...round, nonce }, dueAt: null, events: [], fact: null }
    const {
      _id: _own,
      scope: _scope,
      transactionIds: _ids,
      chain: _chain,
      ...place
    } = newDocument(write, round.createdAt)
    await insertedFirst(() =>
      rounds.updateOne({ _id: id, chain: sequence }, { $setOnInsert: place }, { upsert: true }),
    )
  }
}

/**
 * The id of the place of a lost round.
 * @param of its nonce, or the id of a round whose nonce nobody knows
 */
export function placeId(of: number | string, sequence: string): string {
  return `lost/${of}/${sequence}`
}
