import { type Journal, load } from '@pitboss/storage/journal/journal'
import { entryNumber, streamOf } from '@pitboss/storage/journal/journal-keys'
import type { FactEntry, RoundFields } from './round-document.ts'
import { type RoundEntry, type RoundFact, streamState } from './round-stream.ts'

/** An entry that sums count, with what it counts and the round as it was then. */
export type CountedEntry = {
  readonly entry: RoundEntry
  readonly fields: RoundFields
  readonly facts: readonly FactEntry[]
}

/** Sums over what entries count. */
export type FactFold = {
  /**
   * Counts these entries of one instance, each once, however often it is called.
   * @param missing numbers below the last of them under which an entry may still land
   */
  fold(counted: readonly CountedEntry[], missing: readonly number[]): Promise<void>
  /** Acts on what was counted; doing it twice changes nothing. */
  afterwards?(): Promise<void>
}

/** Reads what sums count of these entries, in their order; those that count for nothing are left out. */
export async function countedEntries(
  journal: Journal<RoundFact>,
  entries: readonly RoundEntry[],
): Promise<CountedEntry[]> {
  const counted: CountedEntry[] = []
  for (const entry of entries) {
    const facts = entry.f.flatMap((fact) => fact.counted ?? [])
    if (facts.length === 0) continue
    const fields = await fieldsAt(journal, entry)
    if (fields !== null) counted.push({ entry, fields, facts })
  }
  return counted
}

/** The round as it was at an entry. */
async function fieldsAt(journal: Journal<RoundFact>, entry: RoundEntry): Promise<RoundFields | null> {
  const stream = streamOf(entry._id)
  const number = entryNumber(entry._id)
  if ((journal.memory.get(stream)?.last ?? 0) < number) journal.memory.delete(stream)
  const { entries } = await load(journal, stream)
  return streamState(entries.filter(({ _id }) => entryNumber(_id) <= number)).fields
}
