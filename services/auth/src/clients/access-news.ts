import type { AccessBucket } from '@pitboss/bus/access-bucket'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { AuthCollections } from '../storage/collections.ts'

const batchMax = 200

/**
 * Tells every gateway that something about a subject changed. Each method is called after the write that set `accessPending`
 * and before the answer; a change that could not be told is told by `sweep`. Source: flows.md, flow 4.
 */
export function createAccessNews({
  bucket,
  collections,
  stores,
  logger,
}: {
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
      await put(`operator.${operatorId}`)
      await operators.updateOne({ _id: operatorId }, { $set: { accessPending: false } })
    },
    async platform(): Promise<void> {
      await put('platform')
      await platform.updateOne({ _id: 'platform' }, { $set: { accessPending: false } })
    },
    /** Also ends a deletion: the link from past requests and then the record go once the gateways know. */
    async credential(apiKey: string): Promise<void> {
      await put(`credential.${apiKey}`)
      const deleted = await credentials.deleted(apiKey)
      if (deleted === null) return credentials.told(apiKey)
      await requestLogs.unlink(deleted, [apiKey])
      await credentials.removeDeleted(apiKey)
    },
    /** Also ends a removal. */
    async user(userId: string): Promise<void> {
      await put(`user.${userId}`)
      if (await people.removeGone(userId)) await refreshTokens.deleteMany({ userId })
      else await people.told(userId)
    },
    async keys(): Promise<void> {
      await put('keys')
    },
    /** Tells what a crash or an outage left untold. */
    async sweep(): Promise<void> {
      const due = { accessPending: true }
      const only = { projection: { _id: 1 } }
      for (const { _id } of await operators.find(due, only).limit(batchMax).toArray())
        await news.operator(_id)
      for (const apiKey of await credentials.untold(batchMax)) await news.credential(apiKey)
      for (const userId of await people.untold(batchMax)) await news.user(userId)
      if ((await platform.findOne({ _id: 'platform', ...due })) !== null) await news.platform()
      logger.trace('access-news.swept')
    },
  }
  return news
}
export type AccessNews = ReturnType<typeof createAccessNews>
