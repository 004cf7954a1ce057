import type { Scope } from '@pitboss/contracts/caller'
import type { Collection } from 'mongodb'
import type { RoundState } from '../rules/round.ts'
import { boundedRead, readMaxMs } from './bounded-read.ts'
import { decodeMinor, decodeRound, pageFilter, type RoundDocument } from './round-document.ts'

/** The parts of a round that its sums need. */
export type RoundSums = Pick<RoundState, 'currency' | 'started' | 'completedAt' | 'stakes' | 'wins'>
type SumsDocument = Pick<RoundDocument, keyof RoundSums>

/** Creates the part of the store of rounds that reads one player's rounds. */
export function createPlayerRounds({ rounds }: { rounds: Collection<RoundDocument> }) {
  return {
    /** The rounds of a nonce sequence, newest nonce first. */
    async listSequence(
      sequence: string,
      { below, max }: { below: number | null; max: number },
    ): Promise<RoundState[]> {
      const documents = await boundedRead(() =>
        rounds
          // A place that `skipTo` holds has no scope.
          .find({
            scope: { $gt: '' },
            chain: sequence,
            nonce: { $gt: 0, ...(below === null ? {} : { $lt: below }) },
          })
          .sort({ nonce: -1 })
          .hint('chain_nonce')
          .limit(max)
          .maxTimeMS(readMaxMs)
          .toArray(),
      )
      return documents.map((document) => decodeRound(document).round)
    },

    /** The nonces of a sequence, from `from` to `to`, whose places `skipTo` holds. */
    async placesHeld(sequence: string, { from, to }: { from: number; to: number }): Promise<number[]> {
      const filter = { chain: sequence, nonce: { $gte: from, $lte: to }, scope: { $exists: false } }
      const places = await boundedRead(() =>
        rounds
          .find(filter)
          .project<Pick<RoundDocument, 'nonce'>>({ nonce: 1 })
          .hint('chain_nonce')
          .limit(to - from + 1)
          .maxTimeMS(readMaxMs)
          .toArray(),
      )
      return places.map(({ nonce }) => nonce)
    },

    /** What moved in the rounds that a player has begun since `from`, newest first. */
    async listSums(
      scope: Scope,
      playerId: string,
      { from, max }: { from: Date; max: number },
    ): Promise<RoundSums[]> {
      const documents = await boundedRead(() =>
        rounds
          .find(pageFilter(scope, { playerId }, { prefix: 'rnd', from }))
          .project<SumsDocument>({ currency: 1, started: 1, completedAt: 1, stakes: 1, wins: 1 })
          .sort({ _id: -1 })
          .limit(max)
          .maxTimeMS(readMaxMs)
          .toArray(),
      )
      return documents.map(({ currency, started, completedAt, stakes, wins }) => ({
        ...{ currency, started, completedAt },
        ...{ stakes: stakes.map(decodeMinor), wins: wins.map(decodeMinor) },
      }))
    },
  }
}
