import type { Clock } from '@pitboss/runtime/clock'
import type { Outbox } from '@pitboss/storage/outbox'
import { advanceMovement, type ScaleMs } from '../rules/advance-movement.ts'
import type { MovementMessage, MovementState, MovementStep } from '../rules/movement.ts'
import type { AttemptRecord, MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movements.ts'
import { toMovementEvent } from '../records/render-movement.ts'

/** What a message did to a movement, with the movement as it stands after. `round-busy`: another call of the round is in flight. */
type Applied = {
  readonly kind: MovementStep['kind'] | 'round-busy'
  readonly document: MovementDocument
  readonly step: MovementStep
}

export type ApplyMessage = (
  document: MovementDocument,
  message: MovementMessage,
  /** Builds the record of the call that the message answers, from when the next one is due. */
  attempt?: (nextAttemptAt: Date | null) => AttemptRecord,
) => Promise<Applied>

export type ApplyDeps = {
  readonly movements: MovementStore
  readonly outbox: Pick<Outbox, 'relay'>
  readonly clock: Clock
  readonly scaleMs: ScaleMs
  readonly newId: (prefix: string) => string
  /** The rules; others than the real ones are for showing that wrong ones would be noticed. */
  readonly rules?: (state: MovementState, message: MovementMessage) => MovementStep
  /** How to wait; a simulation has a time of its own. */
  readonly wait?: (ms: number) => Promise<unknown>
}

const fencedTriesMax = 50

/**
 * Applies a message by compare-and-set: whoever was first is read and the rules decide anew. Events of the step are in the same write and
 * go out behind the caller's back. @throws Error when the document keeps changing, or is gone.
 */
export function createApplyMessage({
  movements,
  outbox,
  scaleMs,
  newId,
  rules = (state, message) => advanceMovement(state, message, scaleMs),
}: ApplyDeps): ApplyMessage {
  return async function applyMessage(given, message, attempt) {
    let document = given
    for (let tried = 1; tried <= fencedTriesMax; tried++) {
      const step = rules(document, message)
      if (step.kind !== 'applied') return { kind: step.kind, document, step }
      const { state, event } = step
      const events =
        event === null
          ? []
          : [toMovementEvent({ facts: document, state, type: event, eventId: newId('evt') })]
      const written = await movements.write(document, {
        state,
        events,
        attempt: attempt?.(state.status === 'PENDING' ? state.dueAt : null) ?? null,
      })
      if (written === 'round-busy') return { kind: 'round-busy', document, step }
      if (written !== null) {
        if (events.length > 0) void outbox.relay(written._id, written.outbox)
        return { kind: 'applied', document: written, step }
      }
      const present = await movements.findById(document._id)
      if (present === null) throw new Error(`the movement ${document.reference} is gone`)
      document = present
    }
    throw new Error(`the movement ${given.reference} kept changing`)
  }
}
