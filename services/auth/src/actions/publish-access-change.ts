import type { AccessBucket } from '@pitboss/bus/access-bucket'
import { ServiceError } from '@pitboss/errors/service-error'
import { forgetIdempotencyKeyOf } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { AuthCollections } from '../storage/collections.ts'

const batchMax = 200

/**
 * Tells every gateway that something about a subject changed. Each method is called after the write that set `accessPending`
 * and before the answer; a change that could not be told is told by `sweep`. What is told is the record as it was before the entry was
 * put: a change that came after stays pending. Source: flows.md, flow 4.
 */
export function createAccessNews({
  db,
  bucket,
  collections,
  stores,
  logger,
}: {
  db: Db
  bucket: AccessBucket
  collections: AuthCollections
  stores: AuthStores
  logger: Logger
}) {
  const { operators, platform, refreshTokens } = collections
  const { credentials, people, requestLogs } = stores

  const put = async (key: string) => {
    try {
      await bucket.put(key, { at: new Date().toISOString() })
    } catch (cause) {
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
    }
  }

  const news = {
    async operator(operatorId: string): Promise<void> {
      const present = await operators.findOne({ _id: operatorId })
      await put(`operator.${operatorId}`)
      const same = { _id: operatorId, accessChange: present?.accessChange ?? null }
      await operators.updateOne(same, { $set: { accessPending: false } })
    },
    async platform(): Promise<void> {
      const present = await platform.findOne({ _id: 'platform' })
      await put('platform')
      const same = { _id: 'platform' as const, accessChange: present?.accessChange ?? null }
      await platform.updateOne(same, { $set: { accessPending: false } })
    },
    /**
     * Also ends a deletion: once the gateways know, the link from past requests goes, the claim under which a repeated creation would
     * make the same key again, and then the record.
     */
    async credential(apiKey: string): Promise<void> {
      const present = await credentials.latest(apiKey)
      await put(`credential.${apiKey}`)
      if (present === null) return
      if (present.status !== 'DELETED') return credentials.told(present)
      await requestLogs.unlink(present, [apiKey])
      await forgetIdempotencyKeyOf(db, apiKey)
      await credentials.removeDeleted(apiKey)
    },
    /** Also ends a removal. */
    async user(userId: string): Promise<void> {
      const present = await people.latest(userId)
      await put(`user.${userId}`)
      if (present === null) return
      if (present.status !== 'REMOVED') return people.told(present)
      await people.removeGone(userId)
      await refreshTokens.deleteMany({ userId })
    },
    async keys(): Promise<void> {
      await put('keys')
    },
    /** Tells what a crash or an outage left untold. What can't be told by itself holds up nothing else; an outage ends the sweep. */
    async sweep(): Promise<void> {
      const due = { accessPending: true }
      const only = { projection: { _id: 1 } }
      const accounts = await operators.find(due, only).limit(batchMax).toArray()
      await tellEach(
        accounts.map(({ _id }) => _id),
        news.operator,
      )
      await tellEach(await credentials.untold(batchMax), news.credential)
      await tellEach(await people.untold(batchMax), news.user)
      if ((await platform.findOne({ _id: 'platform', ...due })) !== null) await news.platform()
      logger.trace('access-news.swept')
    },
  }

  async function tellEach(
    subjects: readonly string[],
    tell: (subject: string) => Promise<void>,
  ): Promise<void> {
    for (const subject of subjects) {
      try {
        await tell(subject)
      } catch (err) {
        if (err instanceof ServiceError) throw err
        logger.error({ err, subject }, 'access-news.stuck')
      }
    }
  }
  return news
}
export type AccessNews = ReturnType<typeof createAccessNews>
