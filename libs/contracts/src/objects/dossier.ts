import { z } from 'zod'
import { eventEnvelopeSchema } from './event.ts'
import { movementAttemptSchema, movementSchema } from './movement.ts'
import { sealedReceiptSchema } from './receipt.ts'
import { roundSchema } from './round.ts'
import { deliveryAttemptSchema, deliverySchema } from './webhook.ts'

/** The dossier of a round. Source: docs/contract.md, section 3, "Dossier". */

/** Most movements, events and deliveries of a dossier. */
export const dossierMax = { movements: 50, events: 100, deliveries: 100 } as const

/** A sentence made of facts. `at`: the time still to come that it names; `about`: the object to look at. */
export const sentenceSchema = z.strictObject({
  text: z.string(),
  at: z.string().nullable(),
  about: z
    .strictObject({ type: z.enum(['transaction', 'delivery', 'endpoint', 'event']), id: z.string() })
    .nullable(),
})
export type Sentence = z.infer<typeof sentenceSchema>

/**
 * Why nobody can say what became of a stake: no round knows it; events say that it was taken, and its round
 * does not; or the events of that time are not all there.
 */
export const doubt = z.enum(['no-round', 'taken-by-events', 'events-missing'])
export type Doubt = z.infer<typeof doubt>

/** A movement with its wallet calls, and how its tries stand. */
export const movementFactsSchema = z.strictObject({
  movement: movementSchema,
  attempts: z.array(movementAttemptSchema),
  /** When the wallet is asked next; null while it is being asked, and when nothing is planned. */
  next_attempt_at: z.string().nullable(),
  call_began_at: z.string().nullable(),
  /** A stake of unknown outcome that its rollback will end. */
  rollback_owed: z.boolean(),
  /** Of a pending stake that operations have to compare after a restore: why. */
  in_doubt: doubt.optional(),
})
export type MovementFacts = z.infer<typeof movementFactsSchema>

/** A delivery with its attempts in brief. `wait`: why it has not gone out yet, null once it has ended. */
export const deliveryFactsSchema = deliverySchema.extend({
  attempts: z.array(
    deliveryAttemptSchema.pick({
      attempt: true,
      sent_at: true,
      duration_ms: true,
      http_status: true,
      error: true,
    }),
  ),
  wait: z.strictObject({ words: z.string(), at: z.string().nullable() }).nullable(),
})
export type DeliveryFacts = z.infer<typeof deliveryFactsSchema>

const waitingFor = z.array(sentenceSchema)

export const dossierSchema = z.strictObject({
  round: roundSchema,
  waiting_for: waitingFor,
  /** Oldest first, as events are. */
  movements: z.array(movementFactsSchema.extend({ waiting_for: waitingFor })),
  events: z.array(
    z.strictObject({
      event: eventEnvelopeSchema,
      deliveries: z.array(deliveryFactsSchema.omit({ wait: true }).extend({ waiting_for: waitingFor })),
    }),
  ),
  /** Null until the round is over. */
  verification: z
    .strictObject({
      valid: z.boolean(),
      checks: z.array(
        z.strictObject({
          name: z.string(),
          ok: z.boolean(),
          expected: z.string(),
          actual: z.string(),
        }),
      ),
    })
    .nullable(),
  /** What a page showed of the round's end; null without a receipt, which says nothing else. */
  receipt: sealedReceiptSchema.nullable(),
  /** False when the round has more movements, events or deliveries than are shown. */
  complete: z.boolean(),
})
export type Dossier = z.infer<typeof dossierSchema>
