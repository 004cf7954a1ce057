import { append, load } from '@pitboss/storage/journal/journal'
import type { SealedPlace, SealedRecords } from '@pitboss/storage/rewrite-seals'
import type { Db, Document } from 'mongodb'
import { isUnfinished } from '../rules/round.ts'
import { type ChainSeals, readChainSeals, sealedIn } from './chain-seals.ts'
import { decodeRound } from './round-document.ts'
import type { RoundsJournal } from './round-streams.ts'
import type { RoundsStore } from './rounds-store.ts'

const purpose = 'server-seeds'
const writeMs = 5000

/** What the core seals as documents: the seeds of commitments that no round has made. */
export const sealedSeeds: readonly SealedPlace[] = [
  {
    ...{ collection: 'commitments', shardKey: 'chain', purpose, filter: {} },
    holding: (range: Document) => ({ sealedSeed: range }),
    valuesIn: ({ chain, nonce, sealedSeed }) => [
      { path: 'sealedSeed', sealed: String(sealedSeed), aad: `${nonce}/${chain}` },
    ],
  },
]

/** Seeds in the journal: of each sequence's last round and its next nonce. An entry renews them. */
export function sealedInJournal({
  db,
  journal: { journal },
  rounds,
}: {
  db: Db
  journal: Pick<RoundsJournal, 'journal'>
  rounds: Pick<RoundsStore, 'takeIn'>
}): SealedRecords<ChainSeals> {
  return {
    ...{ collection: 'journal', purpose },
    // A sequence begins with a commitment of its own.
    count: async () => Number(await db.collection('commitments').estimatedDocumentCount()),
    read: (after, max) => readChainSeals(journal.store, { after, max }),
    valuesIn: ({ fields }) => sealedIn(fields),
    async rewrite({ stream, number, fields }, renewed) {
      if (fields === null) return true
      const { sealedSeed, next } = renewed
      const set = {
        ...(sealedSeed === undefined ? {} : { sealedSeed }),
        ...(next === undefined || fields.next === undefined
          ? {}
          : { next: { ...fields.next, sealedSeed: next } }),
      }
      const untilMs = journal.steadyMs() + writeMs
      const appended = await append(journal, stream, number, { facts: [{ change: { set } }] }, untilMs)
      if (appended.kind === 'unknown') throw new Error(`it is not known whether ${stream} was sealed again`)
      if (appended.kind !== 'appended') return false
      const round = decodeRound(fields)
      if (isUnfinished(round)) rounds.takeIn(stream, (await load(journal, stream)).entries)
      return true
    },
  }
}
