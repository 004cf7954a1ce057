import { mapBounded } from '@pitboss/runtime/map-bounded'
import { type Journal, reload } from '@pitboss/storage/journal/journal'
import { entryNumber, streamOf } from '@pitboss/storage/journal/journal-keys'
import type { FactEntry, RoundFields } from './round-document.ts'
import { type RoundEntry, type RoundFact, streamState } from './round-stream.ts'

/** Streams that are read at once, of rounds that are not remembered. */
const readsAtOnce = 16

export type CountedEntry = {
  readonly entry: RoundEntry
  readonly fields: RoundFields
  readonly facts: readonly FactEntry[]
}

export type FactFold = {
  /** Counts entries of one instance, each once. @param missing numbers at which one may still land */
  fold(counted: readonly CountedEntry[], missing: readonly number[]): Promise<void>
  /** Acts on what was counted; doing it twice changes nothing. */
  afterwards?(): Promise<void>
}

/** Reads what sums count of these entries, in their order; those that count for nothing are left out. */
export async function countedEntries(
  journal: Journal<RoundFact>,
  entries: readonly RoundEntry[],
): Promise<CountedEntry[]> {
  const counting = entries.flatMap((entry) => {
    const facts = entry.f.flatMap((fact) => fact.counted ?? [])
    return facts.length === 0 ? [] : [{ entry, facts }]
  })
  const found = await mapBounded(counting, readsAtOnce, async ({ entry, facts }) => {
    const fields = await fieldsAt(journal, entry)
    return fields === null ? null : { entry, fields, facts }
  })
  return found.filter((one) => one !== null)
}

/** The round as it was at an entry. Entries never change: what is remembered does, however old it is. */
async function fieldsAt(journal: Journal<RoundFact>, entry: RoundEntry): Promise<RoundFields | null> {
  const stream = streamOf(entry._id)
  const number = entryNumber(entry._id)
  const remembered = journal.memory.get(stream)
  const isKnown = remembered !== undefined && remembered.last >= number
  const { entries } = isKnown ? remembered : await reload(journal, stream)
  return streamState(entries.filter(({ _id }) => entryNumber(_id) <= number)).fields
}
