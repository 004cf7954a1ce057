import { type ActedBy, type AuditEntry, orderedBy } from '@pitboss/contracts/audit'
import type { defineRewindCalls, RewindStart, RewindView } from '@pitboss/contracts/calls/rewind'
import type { Bus } from './connect-bus.ts'
import { acknowledgedSequence } from './consume-durable.ts'
import { type CallHandler, handler } from './serve-calls.ts'
import type { ConsumerDeclaration } from './topology.ts'

type Audited = Pick<AuditEntry, 'act' | 'object' | 'before' | 'after'>
type RewindParts = {
  readonly bus: Bus
  readonly rewinds: {
    start(request: RewindStart, entryOf: (rewind: RewindView) => AuditEntry): Promise<RewindView>
    progress(rewindId: string, acknowledgedSequence: number): Promise<RewindView>
  }
  readonly audit: { entry(by: ActedBy, change: Audited): AuditEntry }
}

/** Answers the two calls for the rewind of a durable consumer. Source: docs/contract.md, section 10. */
export function rewindCalls(
  { start, show }: ReturnType<typeof defineRewindCalls>,
  { stream, config: { durable_name: name } }: ConsumerDeclaration,
  { bus, rewinds, audit }: RewindParts,
): CallHandler[] {
  const change = { act: 'consumer.rewind', object: { type: 'consumer', id: name }, before: null }
  return [
    handler(start, (request, { requestId }) => {
      const by = orderedBy(request.order, null, requestId)
      return rewinds.start(request, (after) => audit.entry(by, { ...change, after }))
    }),
    handler(show, async ({ rewindId }) =>
      rewinds.progress(rewindId, await acknowledgedSequence(bus, stream, name)),
    ),
  ]
}
