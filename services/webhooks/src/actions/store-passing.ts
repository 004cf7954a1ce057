import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { failpoint } from '@pitboss/runtime/failpoint'
import { aheadMax, nextRange, noteEvent, type NextRange, passTo } from '../rules/passage.ts'
import type { DeliveryDocument } from '../storage/collections.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import type { WebhooksContext } from '../context.ts'
import type { Passing, Storing } from './passing.ts'

const storedTogetherMax = 100
/**
 * A range waits so long for what else comes to an end, unless documents wait or half of what may be sent
 * ahead of it has come to an end. Nobody waits for it meanwhile. Source: ours.
 */
const gatherMs = 25
const retryFirstMs = 100
const retryLastMs = 2000

/** Has a document stored, and its event passed then. */
export function storeAside(
  c: WebhooksContext,
  passing: Passing,
  seq: number,
  document: DeliveryDocument,
): Promise<void> {
  const one: Storing = { document, seq, isWriting: false, end: Promise.withResolvers() }
  one.end.promise.catch(() => undefined)
  passing.storing.set(document._id, one)
  passing.fresh.delete(document._id)
  passing.sent.delete(document._id)
  passing.hurry.ring()
  settle(c, passing)
  return one.end.promise
}

/** Has documents and ranges stored, if nothing stores them already. */
export function settle(c: WebhooksContext, passing: Passing): void {
  passing.settling ??= settleAll(c, passing)
    .catch((err: unknown) => {
      passing.isLost = true
      c.logger.error({ err, webhook_id: passing.leased._id }, 'events.not-passed')
    })
    .finally(() => {
      passing.settling = null
      if (passing.isLost) giveUp(passing)
      passing.onChange()
    })
}

/** Waits until everything that has come to an end is stored. */
export async function drain(passing: Passing): Promise<void> {
  passing.hurry.ring()
  while (passing.settling !== null && !passing.isLost) await passing.settling
}

/** The next range, as soon as there is one to be stored. */
export function readyRange({ passage }: Passing): NextRange<AcceptedDelivery> | null {
  return nextRange(passage, ({ createdAt }) => createdAt.getTime())
}

/** Stores documents and ranges until there is nothing to be stored. One command of each at a time. */
async function settleAll(c: WebhooksContext, passing: Passing): Promise<void> {
  while (!passing.isLost) {
    if (passing.accepted.size < aheadMax / 2) await passing.hurry.wait(gatherMs)
    // What else comes to an end in this turn of the loop goes along.
    await turn()
    const group = [...passing.storing.values()].slice(0, storedTogetherMax)
    const range = readyRange(passing)
    if (group.length === 0 && range === null) return
    await Promise.all([
      group.length === 0 ? null : storeTogether(c, passing, group),
      range === null ? null : passRange(c, passing, range),
    ])
  }
}

async function passRange(
  c: WebhooksContext,
  passing: Passing,
  range: NextRange<AcceptedDelivery>,
): Promise<void> {
  if (!(await insertRange(c, passing, range))) {
    passing.isLost = true
    c.logger.warn({ webhook_id: passing.leased._id, first: range.first }, 'range.lost')
    return
  }
  passTo(passing.passage, range.to)
  for (const { seq } of range.items) {
    passing.accepted.get(seq)?.resolve(true)
    passing.accepted.delete(seq)
  }
  await failpoint('webhooks.passed')
  passing.onChange()
}

async function storeTogether(c: WebhooksContext, passing: Passing, group: readonly Storing[]): Promise<void> {
  for (const one of group) one.isWriting = true
  await failpoint('webhooks.put-aside')
  const documents = group.map(({ document }) => document)
  await untilKnown(c, passing, 'deliveries.not-stored', () => c.deliveries.insertAbsent(documents))
  for (const { document, seq, end } of group) {
    passing.storing.delete(document._id)
    noteEvent(passing.passage, seq, { kind: 'aside' })
    const { attempts: _, ...due } = document
    if (document.claimToken === 0 && (due.status === 'PENDING' || due.status === 'HELD'))
      passing.onStored(due)
    end.resolve()
  }
}

/** Inserts a range until it is known whether it stands. @throws when this process may write no more */
export async function insertRange(
  c: WebhooksContext,
  passing: Pick<Passing, 'leased' | 'mayWrite'>,
  range: NextRange<AcceptedDelivery>,
): Promise<boolean> {
  const write = { w: c.newId('rng'), at: c.clock.now() }
  return untilKnown(c, passing, 'range.not-inserted', () => c.ranges.insert(passing.leased, range, write))
}

async function untilKnown<Result>(
  { logger }: Pick<WebhooksContext, 'logger'>,
  { leased, mayWrite }: Pick<Passing, 'leased' | 'mayWrite'>,
  event: string,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let waitMs = retryFirstMs; ; waitMs = Math.min(2 * waitMs, retryLastMs)) {
    if (!mayWrite()) throw new Error('this process may not write for the endpoint any more')
    try {
      return await work()
    } catch (err) {
      logger.warn({ err, webhook_id: leased._id }, event)
      await pause(waitMs)
    }
  }
}

function giveUp({ accepted, storing }: Passing): void {
  for (const one of accepted.values()) one.resolve(false)
  accepted.clear()
  for (const { end } of storing.values()) end.reject(new Error('another worker passes the log'))
  storing.clear()
}
