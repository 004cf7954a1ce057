import { type CallContext, callContextSchema } from '@pitboss/contracts/call'
import { newId } from '@pitboss/runtime/new-id'
import type { MsgHdrs } from 'nats'
import { callHeaders } from './wire.ts'

/**
 * The context of a received call. A missing or unreadable header is replaced: the request id by a new one,
 * the deadline by `nowMs + budgetMs`, which also is the latest that counts. Never throws.
 */
export function readCallContext(
  head: MsgHdrs | undefined,
  budgetMs: number,
  nowMs: number,
): CallContext & { deadlineAtMs: number } {
  const { requestId, traceparent, deadlineAtMs, receivedAtMs } = callContextSchema.shape
  const id = requestId.safeParse(head?.get(callHeaders.requestId))
  const trace = traceparent.safeParse(head?.get(callHeaders.traceparent))
  const deadline = deadlineAtMs.safeParse(Number(head?.get(callHeaders.deadline) || Number.NaN))
  const received = receivedAtMs.safeParse(Number(head?.get(callHeaders.receivedAt) || Number.NaN))
  return {
    requestId: id.success ? id.data : newId('req'),
    ...(trace.success && trace.data !== undefined ? { traceparent: trace.data } : {}),
    ...(received.success && received.data !== undefined ? { receivedAtMs: received.data } : {}),
    deadlineAtMs: Math.min(deadline.data ?? Infinity, nowMs + budgetMs),
  }
}
