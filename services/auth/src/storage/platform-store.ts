import type { Db } from 'mongodb'
import { z } from 'zod'
import { type AccessSubject, accessChangesIn, unpublishedChange } from './access-change.ts'

type PlatformDocument = AccessSubject & { _id: 'platform'; realMoney: boolean }

const buildInfo = z.looseObject({ version: z.string() })

/** The switches of the whole platform, in one document, and the database that holds them. */
export function createPlatformStore({ db }: { db: Db }) {
  const platform = db.collection<PlatformDocument>('platform')
  return {
    ...accessChangesIn(db, 'platform'),

    /** Null until a switch is set for the first time. */
    find: () => platform.findOne({ _id: 'platform' }),

    /** Tells whether rounds for real money are allowed; they are until somebody switches them off. */
    isRealMoneyOn: async (): Promise<boolean> =>
      (await platform.findOne({ _id: 'platform' }))?.realMoney ?? true,

    /** The change is unpublished afterwards. */
    setRealMoney: async (realMoney: boolean): Promise<void> => {
      await platform.updateOne(
        { _id: 'platform' },
        { $set: { realMoney, ...unpublishedChange() } },
        { upsert: true },
      )
    },

    /** The version of the database server. */
    async databaseVersion(): Promise<string> {
      return buildInfo.parse(await db.command({ buildInfo: 1 })).version
    },
  }
}
