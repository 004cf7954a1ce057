import { z } from 'zod'
import type { CallContext } from './call.ts'
import type { Caller } from './caller.ts'
import { approvalId, approverId, instant, pageOf, uuid } from './primitives.ts'

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
  /** Its place in the account's chain, and its hash; absent in records of an earlier release. */
  seq: z.int().min(1).optional(),
  hash: z.string().optional(),
  /** When auth took it, from which service, and whether the author is borne out by token or approval. */
  taken_at: instant.optional(),
  source: z.string().optional(),
  proof: z.enum(['token', 'approval', 'none']).optional(),
})

/** The last entry of an account's chain at a time. */
export const auditHead = z.strictObject({ seq: z.int().min(1), hash: z.string(), at: instant })

/**
 * A page of the log, with the end of the account's chain as auth signed it last: once an hour; null before
 * the first time. An auth of an earlier release sends none.
 */
export const auditPageSchema = pageOf(auditRecordSchema).extend({
  head: auditHead.extend({ signature: z.string() }).nullable().optional(),
})

/** A record on its way to auth. `operator_id` is null for what belongs to no account. */
export const auditEntrySchema = auditRecordSchema
  .omit({ seq: true, hash: true, taken_at: true, source: true, proof: true })
  .extend({
    operator_id: uuid.nullable(),
    reason: z.string().nullable(),
    /** The token of the author's request, on its way to auth alone. */
    token: z.string().max(4096).optional(),
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

/** The person whose change is audited; null for an operator's server. */
export function personActing(caller: Caller, context: CallContext): ActedBy | null {
  return caller.actor.kind === 'user' ? actedBy(caller, context) : null
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
