import type { Scope } from '@pitboss/contracts/caller'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { Collection } from 'mongodb'
import type { RoundState } from '../rules/round.ts'
import { type RoundDocument, scopeKey } from './round-document.ts'
import { newDocument } from './write-round.ts'

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

    /** Whether no round of a sequence, and no place of one that is lost, has this nonce. */
    async nonceIsFree(sequence: string, nonce: number): Promise<boolean> {
      return (await rounds.findOne({ chain: sequence, nonce }, { projection: { _id: 1 } })) === null
    },

    /**
     * Moves a nonce sequence beyond a nonce whose round is lost: it holds the place of a round that is over,
     * and no list and no search shows it.
     */
    async skipTo(sequence: string, nonce: number, round: RoundState): Promise<void> {
      const {
        _id: _own,
        scope: _scope,
        transactionIds: _ids,
        chain: _chain,
        ...place
      } = newDocument({ round: { ...round, nonce }, dueAt: null, events: [], fact: null }, round.createdAt)
      const _id = `lost/${nonce}/${sequence}`
      try {
        await rounds.updateOne({ _id, chain: sequence }, { $setOnInsert: place }, { upsert: true })
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
      }
    },
  }
}
