import { z } from 'zod'
import { callerSchema } from '../caller.ts'
import { defineCall } from '../call.ts'
import { tokenOfCaller } from '../call-token.ts'
import { deliveryFactsSchema, movementFactsSchema } from '../objects/dossier.ts'
import { eventEnvelopeSchema } from '../objects/event.ts'
import { deliveryHealthSchema, walletHealthSchema } from '../objects/overview.ts'
import { sealedReceiptSchema } from '../objects/receipt.ts'
import { roundId } from '../primitives.ts'

/**
 * Calls from which the gateway composes answers for people, each about the scope of its caller. Source:
 * docs/contract.md, section 3.
 */

const token = tokenOfCaller({ dashboard: true })
const ofCaller = z.strictObject({ caller: callerSchema })
const ofRound = ofCaller.extend({ roundId })

/** The movements of a round, oldest first, at most 50. */
export const roundTransactions = defineCall('wallet.v1.transaction.of-round', {
  token,
  request: ofRound,
  reply: z.strictObject({ data: z.array(movementFactsSchema), complete: z.boolean() }),
})
/** The events of a round in recording order, at most 100, with at most 100 deliveries of theirs. */
export const roundEvents = defineCall('webhooks.v1.event.of-round', {
  token,
  request: ofRound,
  reply: z.strictObject({
    data: z.array(z.strictObject({ event: eventEnvelopeSchema, deliveries: z.array(deliveryFactsSchema) })),
    complete: z.boolean(),
  }),
})
/** The receipt of a round of the caller; null for none. */
export const roundReceipt = defineCall('rounds.v1.receipt.of-round', {
  token,
  request: ofRound,
  reply: z.strictObject({ receipt: sealedReceiptSchema.nullable() }),
})
export const walletHealth = defineCall('wallet.v1.wallet.health', {
  token,
  request: ofCaller,
  reply: walletHealthSchema,
})
export const deliveryHealth = defineCall('webhooks.v1.delivery.health', {
  token,
  request: ofCaller,
  reply: deliveryHealthSchema,
})
/** The endpoint whose receiver a certification is of; NOT_FOUND for one of a wallet. */
export const findWebhookCertification = defineCall('webhooks.v1.certification.find', {
  token,
  request: ofCaller.extend({ certificationId: z.string().max(128) }),
  reply: z.strictObject({ webhookId: z.string() }),
})
