import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { failpoint } from '@pitboss/runtime/failpoint'
import { aheadMax, nextRange, noteEvent, type NextRange, passTo } from '../rules/passage.ts'
import type { DeliveryDocument } from '../storage/collections.ts'
import type { AcceptedDelivery } from '../storage/range-store.ts'
import type { EndpointRun, RunContext } from './endpoint-run.ts'

const storedTogetherMax = 100
/** Time that a range waits for more, unless documents wait or half of its bound has ended. Source: ours. */
const gatherMs = 25
const retryFirstMs = 100
const retryLastMs = 2000

export type Storing = {
  document: DeliveryDocument
  readonly seq: number
  isWriting: boolean
  readonly end: PromiseWithResolvers<boolean>
}

/** @returns false when another worker passes the log */
export function storeAside(c: RunContext, run: EndpointRun, seq: number, document: DeliveryDocument) {
  const one: Storing = { document, seq, isWriting: false, end: Promise.withResolvers() }
  run.storing.set(document._id, one)
  run.fresh.delete(document._id)
  run.sent.delete(document._id)
  run.hurry.ring()
  settle(c, run)
  return one.end.promise
}

export function settle(c: RunContext, run: EndpointRun): void {
  run.settling ??= settleAll(c, run)
    .catch((err: unknown) => {
      run.isLost = true
      run.logger.error({ err }, 'events.not-passed')
    })
    .finally(() => {
      run.settling = null
      if (run.isLost) giveUp(run)
      run.signal.ring()
    })
}

/** Waits until what has ended is stored. */
export async function drain(run: EndpointRun): Promise<void> {
  run.hurry.ring()
  while (run.settling !== null && !run.isLost) await run.settling
}

export const readyRange = ({ passage }: EndpointRun) =>
  nextRange(passage, ({ createdAt }) => createdAt.getTime())

/** Stores documents and ranges until there is nothing to be stored. One command of each at a time. */
async function settleAll(c: RunContext, run: EndpointRun): Promise<void> {
  while (!run.isLost) {
    if (run.accepted.size < aheadMax / 2) await run.hurry.wait(gatherMs)
    // What else comes to an end in this turn of the loop goes along.
    await turn()
    const group = [...run.storing.values()].slice(0, storedTogetherMax)
    const range = readyRange(run)
    if (group.length === 0 && range === null) return
    const storing = group.length === 0 ? null : storeTogether(c, run, group)
    await Promise.all([storing, range === null ? null : passRange(c, run, range)])
  }
}

async function passRange(c: RunContext, run: EndpointRun, range: NextRange<AcceptedDelivery>): Promise<void> {
  if (!(await insertRange(c, run, range))) {
    run.isLost = true
    return run.logger.warn({ first: range.first }, 'range.lost')
  }
  passTo(run.passage, range.to)
  for (const { seq } of range.items) {
    run.accepted.get(seq)?.resolve(true)
    run.accepted.delete(seq)
  }
  await failpoint('webhooks.passed')
  run.signal.ring()
}

async function storeTogether(c: RunContext, run: EndpointRun, group: readonly Storing[]): Promise<void> {
  for (const one of group) one.isWriting = true
  await failpoint('webhooks.put-aside')
  const documents = group.map(({ document }) => document)
  await untilKnown(run, 'deliveries.not-stored', () => c.deliveries.insertAbsent(documents))
  for (const { document, seq, end } of group) {
    run.storing.delete(document._id)
    noteEvent(run.passage, seq, { kind: 'aside' })
    const { attempts: _, ...due } = document
    const isWaiting = due.status === 'PENDING' || due.status === 'HELD'
    if (document.claimToken === 0 && isWaiting) run.view.putBack(due)
    end.resolve(true)
  }
}

/** Inserts a range until it is known whether it stands. @throws when this process may write no more */
export async function insertRange(c: RunContext, run: EndpointRun, range: NextRange<AcceptedDelivery>) {
  const write = { w: c.newId('rng'), at: c.clock.now() }
  return untilKnown(run, 'range.not-inserted', () => c.ranges.insert(run.taken.endpoint, range, write))
}

/** Ranges and the lease are fenced: even a process that others may take for dead writes what it sent. */
async function untilKnown<Result>(run: EndpointRun, event: string, work: () => Promise<Result>) {
  for (let waitMs = retryFirstMs; ; waitMs = Math.min(2 * waitMs, retryLastMs)) {
    if (run.abandoned) throw new Error('this process may not write for the endpoint any more')
    try {
      return await work()
    } catch (err) {
      run.logger.warn({ err }, event)
      await pause(waitMs)
    }
  }
}

function giveUp({ accepted, storing }: EndpointRun): void {
  for (const end of accepted.values()) end.resolve(false)
  accepted.clear()
  for (const { end } of storing.values()) end.resolve(false)
  storing.clear()
}
