import { randomBytes } from 'node:crypto'
import { isUnfinished } from '@pitboss/rounds/rules/round'
import { bookKind, type RoundEntry, type RoundFact, streamState } from '@pitboss/rounds/storage/round-stream'
import { standingAmong } from '@pitboss/storage/journal/claims'
import type { JournalDocument } from '@pitboss/storage/journal/journal'
import { entriesOf, entryId, entryNumber } from '@pitboss/storage/journal/journal-keys'
import type { Db } from 'mongodb'

/** Gives the players of open rounds `ms` more, each by an entry of its last writer. */
export async function prolongRounds(db: Db, ms: number): Promise<void> {
  const until = new Date(Date.now() + ms)
  const journal = db.collection<JournalDocument<RoundFact>>('journal')
  const set = { lastActionAt: until, sittingEndsAt: new Date(until.getTime() + ms) }
  // List documents may be seconds older than the journal.
  for await (const claim of journal.find({ _id: { $gt: `${bookKind}/`, $lt: `${bookKind}/~` } })) {
    if (!('s' in claim)) continue
    const entries = (await journal.find(entriesOf(claim.s), { sort: { _id: 1 } }).toArray()) as RoundEntry[]
    const { fields } = streamState(standingAmong(entries))
    const last = entries.at(-1)
    if (last === undefined || fields?.driver !== 'game' || !isUnfinished(fields)) continue
    await journal.insertOne({
      ...{ _id: entryId(claim.s, entryNumber(last._id) + 1), w: randomBytes(8).toString('hex') },
      ...{ o: last.o, q: last.q, at: new Date(), f: [{ change: { set } }] },
    })
  }
}
