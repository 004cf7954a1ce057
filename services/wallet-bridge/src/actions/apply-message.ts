import type { ActedBy, AuditEntry } from '@pitboss/contracts/audit'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { Settlement } from '../context.ts'
import { toMovementEvent, toMovementRecord } from '../records/render-movement.ts'
import { isFirstUnknown } from '../rules/flags.ts'
import type { MovementMessage, MovementStep } from '../rules/movement.ts'
import type { AttemptRecord, MovementDocument } from '../storage/movement-document.ts'
import type { AlsoChanged } from '../storage/round-money.ts'

/** `round-busy`: another call of the round is in flight, and nothing was written. */
type Applied = {
  readonly kind: MovementStep['kind'] | 'round-busy'
  readonly document: MovementDocument
  readonly step: MovementStep
}

type Act = 'movement.heal' | 'movement.resolve'

/** Makes the audit entries of what a person, or settlement by itself, does with movements. */
export function entriesOf({ audit }: Pick<Settlement, 'audit'>, by: ActedBy, act: Act) {
  return (before: MovementDocument | null, after: MovementDocument): AuditEntry =>
    audit.entry(by, {
      ...{ act, object: { type: 'movement', id: after.reference } },
      ...{ before: before && toMovementRecord(before), after: toMovementRecord(after) },
    })
}

export type EntryOf = ReturnType<typeof entriesOf>

type Beside = {
  /** Makes the record of the call that the message answers, from the time of the next one. */
  readonly attemptOf?: (nextAttemptAt: Date | null) => AttemptRecord
  readonly entryOf?: EntryOf
  /** Reads what another movement of the round becomes in the same entry. */
  readonly alsoOf?: () => Promise<AlsoChanged | null>
}

const fencedTriesMax = 50

/**
 * Applies a message; the rules decide again when another entry was first. Events are published without delay
 * to the caller.
 * @throws ServiceError SERVICE_UNAVAILABLE when the document keeps changing; Error when it is gone
 */
export function applyMessage(
  { movements, rules, notify }: Pick<Settlement, 'movements' | 'rules' | 'notify'>,
  given: MovementDocument,
  message: MovementMessage,
  { attemptOf, entryOf, alsoOf }: Beside = {},
): Promise<Applied> {
  return changeFenced<MovementDocument, Applied>({
    document: given,
    async change(document) {
      const step = rules(document, message)
      if (step.kind !== 'applied') return { kind: step.kind, document, step }
      const { state, event } = step
      // What is due of a movement with a reversal is the reversal: it has no next attempt of its own.
      const nextAttemptAt = state.status === 'PENDING' && state.reversal === null ? state.dueAt : null
      const also = (await alsoOf?.()) ?? null
      const written = await movements.write(document, {
        state,
        events: event === null ? [] : [toMovementEvent({ ...document, ...state }, event)],
        attempt: attemptOf?.(nextAttemptAt) ?? null,
        audit: entryOf?.(document, { ...document, ...state }) ?? null,
        also,
        look: isFirstUnknown(document, state) ? 'UNKNOWN_OUTCOME' : null,
      })
      if (written === null) return null
      if (written === 'round-busy') return { kind: 'round-busy', document, step }
      if (also !== null) notify({ ...also.document, ...also.state })
      if (attemptOf !== undefined || written.status !== document.status) notify(written)
      return { kind: 'applied', document: written, step }
    },
    async reread({ _id, reference }) {
      const present = await movements.findById(_id)
      if (present === null) throw new Error(`the movement ${reference} is gone`)
      return present
    },
    triesMax: fencedTriesMax,
    name: `the movement ${given.reference}`,
  })
}
