import type { WithAudit } from '@pitboss/storage/audit-outbox'
import type { WithOutbox } from '@pitboss/storage/outbox-entry'
import type { MovementDocument } from './movement-document.ts'

/** A movement as builds before the journal stored it. */
export type EarlierMovement = Omit<MovementDocument, 'n' | 'w'> &
  WithOutbox &
  WithAudit & {
    readonly version: number
    readonly callingRound: string | null
    readonly lookAt?: Date
    /** Present in what this build has written. */
    readonly n?: number
  }

/** The movement without what is now in the journal or in memory. */
export function fromEarlier(earlier: EarlierMovement): MovementDocument {
  const { version: _version, callingRound: _calling, lookAt: _lookAt, ...movement } = earlier
  const { outbox: _outbox, outboxAt: _outboxAt, ...rest } = movement
  const { auditOutbox: _audit, auditOutboxAt: _auditAt, auditRemoves: _removes, ...plain } = rest
  return { ...plain, n: 0, w: '' }
}
