import type { AccessBucket } from '@pitboss/bus/access-bucket'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { AuthStores } from '../storage/auth-stores.ts'

const batchMax = 200
/** Pause between two sweeps while nothing that this process knows of is unpublished. */
const backstopEveryMs = 10_000

/**
 * Publishes to every gateway that something about a subject changed. An action calls a method after the write
 * that set `accessPending` and before its answer; `sweep` publishes the changes that a crash or an outage
 * left unpublished. Each method reads the document before it puts the entry, so that a change in between
 * stays unpublished.
 * @throws ServiceError SERVICE_UNAVAILABLE when the bucket takes no entry
 */
export function createPublishAccessChange({
  bucket,
  stores,
  audit,
  logger,
}: {
  bucket: AccessBucket
  stores: AuthStores
  audit: Pick<AuditOutbox, 'move'>
  logger: Logger
}) {
  const { credentials, idempotency, operators, people, platform, refreshTokens, requestLogs, signingKeys } =
    stores

  /** Whether this process may have left a change unpublished. */
  let isOwed = true
  let sweptAtMs = Number.NEGATIVE_INFINITY

  const put = async (key: string) => {
    try {
      await bucket.put(key, { at: new Date().toISOString() })
    } catch (cause) {
      isOwed = true
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
    }
  }

  const publish = {
    async operator(operatorId: string): Promise<void> {
      const before = await operators.find({ operatorId })
      await put(`operator.${operatorId}`)
      if (before !== null) await operators.markPublished(before)
    },

    async platform(): Promise<void> {
      const before = await platform.find()
      await put('platform')
      if (before !== null) await platform.markPublished(before)
    },

    /**
     * Ends a deletion, too. Once the gateways know of it, its audit entries move and three things go: the
     * link from past requests, the idempotency key under which a repeated creation would make the same
     * api_key again, and the document.
     */
    async credential(apiKey: string): Promise<void> {
      const before = await credentials.latest(apiKey)
      await put(`credential.${apiKey}`)
      if (before === null) return
      if (before.status !== 'DELETED') return credentials.markPublished(before)
      await audit.move()
      await requestLogs.unlink(before, [apiKey])
      await idempotency.forget(apiKey)
      await credentials.removeDeleted(apiKey)
    },

    /** Ends a removal, too. */
    async user(userId: string): Promise<void> {
      const before = await people.latest(userId)
      await put(`user.${userId}`)
      if (before === null) return
      if (before.status !== 'REMOVED') return people.markPublished(before)
      await audit.move()
      await people.deleteRemoved(userId)
      await refreshTokens.end({ userId })
    },

    async keys(): Promise<void> {
      const ended = await signingKeys.endedUnpublished()
      await put('keys')
      for (const { _id, accessChange = null } of ended)
        await signingKeys.markPublished({ _id, accessPending: true, accessChange })
    },

    /** Sweeps if this process has left something unpublished, and every 5 s: another one may have died. */
    async sweepOwed(): Promise<void> {
      if (!isOwed && performance.now() - sweptAtMs < backstopEveryMs) return
      isOwed = false
      try {
        await publish.sweep()
        sweptAtMs = performance.now()
      } catch (error) {
        isOwed = true
        throw error
      }
    },

    /**
     * Publishes at most 200 changes of each kind. An outage ends the sweep; another failure skips one
     * subject.
     */
    async sweep(): Promise<void> {
      await publishEach(await operators.unpublished(batchMax), publish.operator)
      await publishEach(await credentials.unpublished(batchMax), publish.credential)
      await publishEach(await people.unpublished(batchMax), publish.user)
      if ((await platform.unpublished(1)).length > 0) await publish.platform()
      if ((await signingKeys.unpublished(1)).length > 0) await publish.keys()
      logger.trace('access-news.swept')
    },
  }

  async function publishEach(
    subjects: readonly string[],
    publishOne: (subject: string) => Promise<void>,
  ): Promise<void> {
    for (const subject of subjects) {
      try {
        await publishOne(subject)
      } catch (err) {
        if (err instanceof ServiceError) throw err
        isOwed = true
        logger.error({ err, subject }, 'access-news.stuck')
      }
    }
  }
  return publish
}
export type PublishAccessChange = ReturnType<typeof createPublishAccessChange>
