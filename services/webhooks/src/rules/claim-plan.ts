import { inFlightMax } from './endpoint-health.ts'

/** First tries, later tries, replays, and what a person asked for. */
export const lanes = ['fresh', 'retry', 'replay', 'manual'] as const
export type Lane = (typeof lanes)[number]

/** Counts claims, so that turns continue from one claim to the next. */
export type Turns = { readonly all: number; readonly normal: number }

const replayShare = 4
const freshPerOld = 3

/**
 * Slots that replay jobs may fill at the same time: a quarter, at least one. Source: docs/contract.md,
 * section 7.
 */
export function replaySlots(pace: number): number {
  return Math.max(1, Math.floor(Math.min(pace, inFlightMax) / replayShare))
}

/**
 * Chooses the due deliveries that take the free slots: manual ones first, then fresh before old ones 3:1, and
 * every fourth claim for a replay job while its lane has room.
 */
export function planClaims<Item>({
  free,
  replayFree,
  due,
  turns,
}: {
  free: number
  replayFree: number
  due: Readonly<Record<Lane, readonly Item[]>>
  turns: Turns
}): { chosen: Item[]; turns: Turns } {
  const queues = {
    fresh: [...due.fresh],
    retry: [...due.retry],
    replay: due.replay.slice(0, Math.max(0, replayFree)),
    manual: [...due.manual],
  }
  const chosen = queues.manual.splice(0, free)
  let { all, normal } = turns
  while (chosen.length < free) {
    const normalDue = queues.fresh.length + queues.retry.length > 0
    const replayTurn = all % replayShare === replayShare - 1 || !normalDue
    const oldTurn = normal % (freshPerOld + 1) === freshPerOld
    const normalOrder = oldTurn ? [queues.retry, queues.fresh] : [queues.fresh, queues.retry]
    const order = replayTurn ? [queues.replay, ...normalOrder] : [...normalOrder, queues.replay]
    const queue = order.find((candidates) => candidates.length > 0)
    if (queue === undefined) break
    chosen.push(...queue.splice(0, 1))
    all += 1
    if (queue !== queues.replay) normal += 1
  }
  return { chosen, turns: { all, normal } }
}
