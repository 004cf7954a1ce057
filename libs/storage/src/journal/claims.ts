import type { Landed } from './group-commit.ts'
import type { Claim, ClaimDocument, Entry, Journal, JournalDocument, JournalStore } from './journal.ts'
import { entryId, entryNumber, type StreamKey } from './journal-keys.ts'

/** For how long a claim's entry may be on its way that is not there. */
const claimAgainMs = 1000
const claimEveryMs = 100

/** The document of a claim that an entry of the stream is written with. */
export function claimDocument<Fact>(
  { key, fields }: Claim,
  s: StreamKey,
  { _id, w, at }: Entry<Fact>,
): ClaimDocument {
  return { ...fields, _id: key, w, s, n: entryNumber(_id), at }
}

/** Of the documents that were there already, those which another write made; by id. */
export async function othersAmong<Fact>(
  store: JournalStore<Fact>,
  documents: readonly JournalDocument<Fact>[],
  landed: readonly Landed[],
): Promise<ReadonlyMap<string, JournalDocument<Fact> | null>> {
  const present = documents.filter((_, index) => landed[index] === 'present')
  if (present.length === 0) return new Map()
  const standing = new Map((await store.read(present.map(({ _id }) => _id))).map((each) => [each._id, each]))
  return new Map(
    present
      .filter(({ _id, w }) => standing.get(_id)?.w !== w)
      .map(({ _id }) => [_id, standing.get(_id) ?? null]),
  )
}

/**
 * Inserts claims until each is its own, or another's whose entry stands. One whose entry is not there may
 * belong to a write that is on its way: after a second the entry's number is taken, so that it can never
 * land, and the claim is removed, as one whose entry was withdrawn is at once.
 * @returns the claim that is another's; null when all are its own
 */
export async function claimAgain<Fact>(
  journal: Journal<Fact>,
  claims: readonly ClaimDocument[],
  untilMs: number,
): Promise<ClaimDocument | null | 'unknown'> {
  const { store } = journal
  const closesMs = journal.steadyMs() + claimAgainMs
  for (let open = claims; open.length > 0; ) {
    const landed = await store.insert(open, untilMs)
    if (landed === 'unknown') return 'unknown'
    const others = await othersAmong(store, open, landed)
    open = open.filter(({ _id }) => others.has(_id))
    for (const other of others.values()) {
      if (other === null || !isClaim(other)) continue
      const entries = await store.readEntries(other.s)
      const entry = entries.find(({ _id }) => entryNumber(_id) === other.n)
      if (entry?.w === other.w && !isWithdrawn(entry, entries)) return other
      if (entry !== undefined) await store.removeClaim(other._id, other.w)
      else if (journal.steadyMs() >= closesMs && !(await closeNumber(journal, other, untilMs)))
        return 'unknown'
    }
    if (open.length > 0) await journal.pause(claimEveryMs)
  }
  return null
}

/** Takes the number of a claim's entry unless that has landed. @returns false when that is not known */
async function closeNumber<Fact>(
  journal: Journal<Fact>,
  { s, n }: ClaimDocument,
  untilMs: number,
): Promise<boolean> {
  const writer = await journal.nextWriter(untilMs)
  if (writer === null) return false
  const blank = { _id: entryId(s, n), w: journal.newWrite(), ...writer, at: journal.now(), f: [] }
  const landed = await journal.store.insert([blank], untilMs)
  // Whether it stands or not, it brings no duties.
  journal.settled(blank, 'taken')
  return landed !== 'unknown'
}

function isClaim<Fact>(document: JournalDocument<Fact>): document is ClaimDocument {
  return 's' in document
}

/** Whether a later entry of the stream takes this one back, or says that it lost a claim. */
export function isWithdrawn<Fact>(entry: Entry<Fact>, entries: readonly Entry<Fact>[]): boolean {
  const number = entryNumber(entry._id)
  return entries.some(({ wd }) => wd === number)
}

/**
 * A stream's entries without those that lost a claim, and without those that say so or only close a number,
 * so that a lost write can never have it.
 */
export function standingAmong<Fact>(entries: readonly Entry<Fact>[]): readonly Entry<Fact>[] {
  const empty = entries.filter(({ f }) => f.length === 0)
  if (empty.length === 0) return entries
  const voided = new Set(empty.map(({ wd }) => wd))
  return entries.filter(({ _id, f }) => f.length > 0 && !voided.has(entryNumber(_id)))
}

export async function removeClaims<Fact>(
  store: JournalStore<Fact>,
  claims: readonly ClaimDocument[],
): Promise<void> {
  await Promise.all(claims.map(({ _id, w }) => store.removeClaim(_id, w)))
}
