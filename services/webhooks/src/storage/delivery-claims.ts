import { amongKeys } from '@pitboss/storage/among-keys'
import { createGroup } from '@pitboss/storage/command-turns'
import { MongoBulkWriteError } from 'mongodb'
import type { AttemptRecord, Collections, DeliveryDocument, DueDelivery } from './collections.ts'
import { keyOf, never } from './collections.ts'
import { afterInterruption, claimedOf, type ScheduleContext } from './new-delivery.ts'

const groupMax = 100
/** Attempt records per delivery. Only replays and attempts beside the schedule make more than twelve. */
const attemptsKept = 30

type Claim = { readonly due: DueDelivery; readonly token: number; readonly now: Date }
type Completion = {
  readonly claimed: Pick<DeliveryDocument, '_id' | 'webhookId' | 'claimToken' | 'attemptCount'>
  readonly fields: Partial<DeliveryDocument>
  readonly attempt: AttemptRecord
}
type CompletionParts = [Completion['claimed'], Completion['fields'], Completion['attempt']]
type Write = Claim | Completion
/** The claimed delivery, or whether a completion was written. */
type Written = DueDelivery | boolean

/** Claims, completions and recovery, fenced; those of all endpoints of a process share their round trips. */
export function createDeliveryClaims({ deliveries }: Pick<Collections, 'deliveries'>) {
  const write = createGroup<Write, Written>({ run: settle, groupMax, commandsMax: 1 })

  async function settle(writes: readonly Write[]): Promise<(Written | Promise<Written>)[]> {
    try {
      return await writeTogether(writes)
    } catch (error) {
      // One that the database refuses is no failure of the others; an outage is.
      if (writes.length === 1 || !(error instanceof MongoBulkWriteError)) throw error
      const ended: PromiseSettledResult<Written[]>[] = []
      for (const one of writes) ended.push(...(await Promise.allSettled([writeTogether([one])])))
      return ended.map((one) =>
        one.status === 'rejected' ? Promise.reject(one.reason) : (one.value[0] ?? false),
      )
    }
  }

  /**
   * Writes claims and completions together, each fenced; what does not match is read again. Completions go
   * first: a claim waits for those asked for before it. Claims whose fences differ only in the id are one
   * update, which the database plans once.
   */
  async function writeTogether(writes: readonly Write[]): Promise<Written[]> {
    const fenceOf = ({ due: { webhookId, dueAt, attemptCount }, token, now }: Claim) =>
      [webhookId, dueAt.getTime(), attemptCount, token, now.getTime()].join(' ')
    const claims = writes.filter((one) => 'due' in one)
    const alike = Map.groupBy(claims, fenceOf)
    const operations = [
      ...writes.filter((one) => 'fields' in one).map((one) => ({ updateOne: completionOperation(one) })),
      ...[...alike.values()].flatMap(([first, ...others]) =>
        first === undefined ? [] : [{ updateMany: claimOperation(first, others) }],
      ),
    ]
    const { matchedCount } = await deliveries.bulkWrite(operations, { ordered: false })
    if (matchedCount === writes.length)
      return writes.map((one) => !('due' in one) || claimedOf(one.due, one.token, one.now))
    const keys = writes.map((one) => keyOf('due' in one ? one.due : one.claimed))
    const found = await deliveries.find(amongKeys(keys)).toArray()
    const byId = new Map(found.map((delivery) => [delivery._id, delivery]))
    return writes.map((one) => {
      if (!('due' in one)) {
        const attempts = byId.get(one.claimed._id)?.attempts ?? []
        return attempts.some((stored) => isSameAttempt(stored, one.attempt))
      }
      const wanted = claimedOf(one.due, one.token, one.now)
      const now = byId.get(wanted._id)
      const isMine =
        now?.claimToken === wanted.claimToken &&
        now.attemptCount === wanted.attemptCount &&
        now.claimedAt?.getTime() === one.now.getTime()
      return isMine && now
    })
  }

  return {
    /** Stores the next attempt's number and the worker's token; leaves out what changed since it was read. */
    async claim(dues: readonly DueDelivery[], token: number, now: Date): Promise<DueDelivery[]> {
      const written = await Promise.all(dues.map((due) => write({ due, token, now })))
      return written.filter((one) => typeof one === 'object')
    },

    /** Writes the result of an attempt under its claim. @returns false when the claim was lost */
    complete: async (...[claimed, fields, attempt]: CompletionParts): Promise<boolean> =>
      (await write({ claimed, fields, attempt })) === true,

    /** Makes due what dead workers left in flight; each attempt stays on record with an unknown result. */
    async recoverOrphans(webhookId: string, token: number, now: Date, schedule: ScheduleContext) {
      const claimed = { webhookId, claimToken: { $gt: 0, $lt: token } }
      const withoutAttempts = { projection: { attempts: 0 }, hint: 'claimed' }
      const orphans = await deliveries.find(claimed, withoutAttempts).toArray()
      for (const orphan of orphans) {
        const { _id, claimToken } = orphan
        const { fields, attempt } = afterInterruption(orphan, now, schedule)
        await deliveries.updateOne({ _id, webhookId, claimToken }, { $set: fields, $push: pushOf(attempt) })
      }
      return orphans.length
    },
  }
}

const pushOf = (attempt: AttemptRecord) => ({ attempts: { $each: [attempt], $slice: -attemptsKept } })

/** @param others whose fences differ from this one's only in the id */
function claimOperation({ due, token, now }: Claim, others: readonly Claim[]) {
  const { webhookId, dueAt, attemptCount } = due
  const ids = [due._id, ...others.map((claim) => claim.due._id)]
  const waiting = { status: 'PENDING', claimToken: 0, dueAt, attemptCount } as const
  const $set = { claimToken: token, claimedAt: now, dueAt: never, attemptCount: attemptCount + 1 }
  return { filter: { _id: { $in: ids }, webhookId, ...waiting }, update: { $set } }
}

function completionOperation({ claimed, fields, attempt }: Completion) {
  const { _id, webhookId, claimToken, attemptCount } = claimed
  const update = { $set: { ...fields, claimToken: 0, claimedAt: null }, $push: pushOf(attempt) }
  return { filter: { _id, webhookId, claimToken, attemptCount }, update }
}

/** The times distinguish a worker's record from that of the next one, which recovered the delivery. */
function isSameAttempt(a: AttemptRecord, b: AttemptRecord): boolean {
  return a.attempt === b.attempt && a.sentAt.getTime() === b.sentAt.getTime() && a.durationMs === b.durationMs
}
