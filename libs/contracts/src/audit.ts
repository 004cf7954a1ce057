import { z } from 'zod'
import type { CallContext } from './call.ts'
import type { Caller } from './caller.ts'
import { approvalId, approverId, instant, uuid } from './primitives.ts'

/** Records of what people, operations and key pairs changed. Source: docs/contract.md, section 12. */

/** A user's id and e-mail address; the name of who ran the operations command, twice; an api_key, twice. */
export const auditActorSchema = z.strictObject({
  kind: z.enum(['user', 'operations', 'service']),
  id: z.string(),
  name: z.string(),
})
export type AuditActor = z.infer<typeof auditActorSchema>

/** The approval by which a change was made, and who gave it. */
export const auditApprovalSchema = z.strictObject({
  approval_id: approvalId,
  user_id: approverId,
  email: z.string(),
})

const changedObject = z.record(z.string(), z.unknown()).nullable()

/** The public record. `before` and `after` are public records of the object; they hold no secret. */
export const auditRecordSchema = z.strictObject({
  audit_id: z.string().max(64),
  at: instant,
  actor: auditActorSchema,
  /** Null where no address is known, as for the operations command. */
  client_address: z.string().nullable(),
  request_id: z.string().nullable(),
  act: z.string().max(64),
  object: z.strictObject({ type: z.string(), id: z.string() }),
  before: changedObject,
  after: changedObject,
  /** There when a second person approved what the actor asked for. */
  approval: auditApprovalSchema.optional(),
})

/** A record on its way to auth. `operator_id` is null for what belongs to no account. */
export const auditEntrySchema = auditRecordSchema.extend({
  operator_id: uuid.nullable(),
  reason: z.string().nullable(),
})
export type AuditEntry = z.infer<typeof auditEntrySchema>

/**
 * The acts of each service that hands its entries to auth. The subject says which service sends, by the
 * rights of its NATS user; auth takes no act of another one, nor of its own, from it.
 */
export const auditedActs = {
  rounds: [
    'game.change',
    'game.set',
    'game.set-limits',
    'game-session.close',
    'free-bet.create',
    'free-bet.cancel',
    'player.stop',
    'player.lift-stop',
    'player.erase',
    'player.set-limits',
    'round.heal',
    'round.resolve',
    'return-alarm.lift',
    'consumer.rewind',
  ],
  'wallet-bridge': [
    'wallet.put',
    'wallet.rotate-secret',
    'wallet.certify',
    'certification.cancel',
    'reconciliation.start',
    'reconciliation.cancel',
    'movement.resolve',
    'movement.heal',
    'flag.change',
    'flag-rules.put',
  ],
  webhooks: [
    'endpoint.create',
    'endpoint.change',
    'endpoint.rotate-secret',
    'endpoint.test',
    'endpoint.pause',
    'endpoint.resume',
    'endpoint.delete',
    'endpoint.replay',
    'endpoint.certify',
    'certification.cancel',
    'replay.cancel',
    'delivery.retry',
    'parked.retry',
    'consumer.rewind',
  ],
} as const

/** The author of a change, as its record names it. */
export const actedBySchema = auditEntrySchema.pick({
  operator_id: true,
  actor: true,
  client_address: true,
  request_id: true,
  reason: true,
  approval: true,
})
export type ActedBy = z.infer<typeof actedBySchema>

/** The author of a change that the caller of a request makes. */
export function actedBy({ scope, actor, clientAddress }: Caller, { requestId }: CallContext): ActedBy {
  return {
    operator_id: scope.operatorId,
    actor: actorOf(actor),
    client_address: clientAddress,
    request_id: requestId,
    reason: null,
  }
}

/** The author of a change by the operations command. @param operatorId the account of what is changed */
export function orderedBy(
  { by, reason }: { readonly by: string; readonly reason: string | null },
  operatorId: string | null,
  requestId: string | null,
): ActedBy {
  return {
    operator_id: operatorId,
    actor: { kind: 'operations', id: by, name: by },
    client_address: null,
    request_id: requestId,
    reason,
  }
}

function actorOf(actor: Caller['actor']): AuditActor {
  switch (actor.kind) {
    case 'user':
      return { kind: 'user', id: actor.user_id, name: actor.email }
    case 'credential':
      return { kind: 'service', id: actor.api_key, name: actor.api_key }
    case 'session':
      return { kind: 'service', id: actor.session_id, name: actor.session_id }
  }
}
