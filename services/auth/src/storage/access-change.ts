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

/** Fields to set; those that are undefined stay as they are. */
export type Changes<Doc> = { [Field in keyof Doc]?: Doc[Field] | undefined }

/** The fields that a write sets when it makes a change that the gateways need. */
export function unpublishedChange<Doc>(fields: Changes<Doc>) {
  // The driver leaves undefined fields out (libs/storage/src/connect-storage.ts).
  return { ...(fields as Partial<Doc>), accessPending: true as const, accessChange: randomUUID() }
}

/** The methods of a store whose documents are access subjects. */
export function accessChangesIn(
  db: Db,
  collection: 'operators' | 'platform' | 'credentials' | 'users' | 'signing_keys',
) {
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
