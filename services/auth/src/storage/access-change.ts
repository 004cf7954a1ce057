import { randomUUID } from 'node:crypto'
import type { Db } from 'mongodb'

/** The fields of a document whose changes are published to the gateways over the access bucket. */
export type AccessSubject = {
  _id: string
  /** True while a change is unpublished. The write of a change sets it, so that a crash loses none. */
  accessPending: boolean
  /** Names the latest change, so that the publication of one change does not end that of the next. */
  accessChange?: string | null
}

/** The fields that a write sets when it makes a change that the gateways need. */
export function unpublishedChange(): { accessPending: true; accessChange: string } {
  return { accessPending: true, accessChange: randomUUID() }
}

/** The methods of a store whose documents are access subjects. */
export function accessChangesIn(db: Db, collection: 'operators' | 'platform' | 'credentials' | 'users') {
  const subjects = db.collection<AccessSubject>(collection)
  return {
    /** Ids of at most `max` documents that have an unpublished change. */
    async unpublished(max: number): Promise<string[]> {
      const found = await subjects
        .find({ accessPending: true }, { projection: { _id: 1 } })
        .limit(max)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /** Takes the document as it was before it was published: a change made since then stays unpublished. */
    async markPublished({ _id, accessChange }: AccessSubject): Promise<void> {
      await subjects.updateOne(
        { _id, accessChange: accessChange ?? null },
        { $set: { accessPending: false } },
      )
    },
  }
}
