import { eventOfSuccess, type MovementEventType, type MovementState } from './movement.ts'

type AttemptEnd = {
  readonly classification: string
  readonly sentAt: Date
  readonly latencyMs: number | null
}

export type Ended = MovementState & { readonly attempts: readonly AttemptEnd[] }

/** Derives the event of an end from the record, at its last change or, if reversed, the wallet's answer. */
export function eventOfEnd(movement: Ended): { type: MovementEventType; at: Date } | null {
  const type = typeOfEnd(movement)
  if (type === null) return null
  const { reversal, status, updatedAt, createdAt } = movement
  // Its refusal and its rollback were one write.
  if (reversal?.ofRefused === true) return { type, at: reversal.askedAt }
  const isUntouched = reversal === null && status !== 'REFUNDED'
  return { type, at: isUntouched || status === 'FAILED' ? updatedAt : (paidAt(movement) ?? createdAt) }
}

function typeOfEnd(movement: Ended): MovementEventType | null {
  const { type, operation, status, reversal, ofRefused } = movement
  if (status === 'PENDING' || operation === null || ofRefused === true) return null
  if (status === 'FAILED') return 'transaction.failed'
  if (status !== 'ROLLED_BACK' || type !== 'BET') return eventOfSuccess[type]
  // The wallet's tombstone ended it.
  if (reversal === null) return 'transaction.rollback'
  return wasTakenBefore(movement, reversal) ? eventOfSuccess[type] : null
}

/** Whether the stake was known to be taken before its reversal was asked for. */
function wasTakenBefore(movement: Ended, { origin, askedAt }: NonNullable<Ended['reversal']>): boolean {
  // The service gives back only stakes of unknown outcome.
  if (origin === 'service') return false
  if (movement.walletTransactionId !== null || movement.balanceAfter !== null) return true
  const success = paidAt(movement)
  return success !== null && success <= askedAt
}

/** The time of the wallet's acknowledgement, or null when none of our calls received it. */
export function paidAt({ attempts }: Pick<Ended, 'attempts'>): Date | null {
  const paid = attempts.find(({ classification }) => classification === 'SUCCESS')
  return paid === undefined ? null : new Date(paid.sentAt.getTime() + (paid.latencyMs ?? 0))
}
