import type { FactFold } from '@pitboss/rounds/storage/rounds-journal'
import type { RoundFact } from '@pitboss/rounds/storage/round-stream'
import type { Sum, SumStore } from '@pitboss/storage/journal/fold'
import type { JournalDocument, JournalStore } from '@pitboss/storage/journal/journal'
import type { JournalWork } from '@pitboss/storage/journal/journal-process'
import type { HasBug } from './bugs.ts'

/**
 * The bugs of the journal of rounds and of what counts its entries. Each part goes through unchanged unless
 * its bug is named.
 */

/** Leaves out the claims of movements that are added to a round. */
export function journalStoreWith(store: JournalStore<RoundFact>, has: HasBug): JournalStore<RoundFact> {
  if (!has('rounds.added-id-unclaimed')) return store
  const isLeftOut = (document: JournalDocument<RoundFact>) => 's' in document && document.n > 1
  return {
    ...store,
    async insert(documents, untilMs) {
      const written = documents.filter((document) => !isLeftOut(document)).map(withoutIds)
      const landed = await store.insert(written, untilMs)
      if (landed === 'unknown') return landed
      const rest = [...landed]
      return documents.map((document) => (isLeftOut(document) ? 'inserted' : (rest.shift() ?? 'inserted')))
    },
  }
}

function withoutIds(document: JournalDocument<RoundFact>): JournalDocument<RoundFact> {
  if ('s' in document) return document
  const f = document.f.map(({ ids, dead, ...fact }) =>
    dead === undefined ? fact : { ...fact, dead, ...(ids === undefined ? {} : { ids }) },
  )
  return { ...document, f }
}

type Options = Pick<JournalWork<RoundFact>, 'isFinished' | 'list'>

/** Takes a stream for finished whose claims may be missing, or lists no session. */
export function optionsWith<Given extends Options>(options: Given, has: HasBug): Given {
  if (has('rounds.session-left-out')) {
    const list: Options['list'] = async (stream, entries) =>
      entries[0]?.f[0]?.session === undefined ? options.list(stream, entries) : undefined
    return { ...options, list }
  }
  if (!has('rounds.claims-left-at-death')) return options
  const isFinished: Options['isFinished'] = (entries) => {
    const last = entries.at(-1)
    const hasClaims = last?.f.some(({ base, ids = [] }) => base !== undefined || ids.length > 0)
    return hasClaims === true || options.isFinished(entries)
  }
  return { ...options, isFinished }
}

/** Passes over numbers under which entries may still land. */
export function foldWith(fold: FactFold, has: HasBug): FactFold {
  return has('rounds.hole-never-counted') ? { ...fold, fold: (counted) => fold.fold(counted, []) } : fold
}

/** Forgets what a sum has counted. */
export function sumsWith<Doc extends Sum>(sums: SumStore<Doc>, has: HasBug): SumStore<Doc> {
  if (!has('rounds.entry-counted-twice')) return sums
  return {
    ...sums,
    async read(id) {
      const sum = await sums.read(id)
      return sum === null ? null : { ...sum, cursors: {} }
    },
  }
}
