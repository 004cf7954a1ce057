import { randomBytes } from 'node:crypto'
import { isUnfinished } from '@pitboss/rounds/rules/round'
import { bookKind, type RoundEntry, streamState } from '@pitboss/rounds/storage/round-stream'
import { standingAmong } from '@pitboss/storage/journal/claims'
import type { StoredDocument } from '@pitboss/storage/journal/mongodb-journal'
import { readEntries, writeEntries } from '@pitboss/testing/stored-entries'
import { entryId, entryNumber } from '@pitboss/storage/journal/journal-keys'
import type { Db } from 'mongodb'

/** Gives the players of open rounds `ms` more, each by an entry of its last writer. */
export async function prolongRounds(db: Db, ms: number): Promise<void> {
  const until = new Date(Date.now() + ms)
  const journal = db.collection<StoredDocument>('journal')
  const set = { lastActionAt: until, sittingEndsAt: new Date(until.getTime() + ms) }
  // List documents may be seconds older than the journal.
  for await (const claim of journal.find({ _id: { $gt: `${bookKind}/`, $lt: `${bookKind}/~` } })) {
    if (!('s' in claim)) continue
    const entries: RoundEntry[] = await readEntries(db, claim.s)
    const { fields } = streamState(standingAmong(entries))
    const last = entries.at(-1)
    if (last === undefined || fields?.driver !== 'game' || !isUnfinished(fields)) continue
    const entry: RoundEntry = {
      ...{ _id: entryId(claim.s, entryNumber(last._id) + 1), w: randomBytes(8).toString('hex') },
      ...{ o: last.o, q: last.q, at: new Date(), f: [{ change: { set } }] },
    }
    await writeEntries(db, [entry])
  }
}
