import type { AuditEntry } from '@pitboss/contracts/audit'
import type { AuditProof } from '@pitboss/contracts/audit-chain'
import { createTokenVerifier } from '@pitboss/bus/verify-token'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { TokenSigner } from './token-signer.ts'

const verifiedMax = 1000
/** A token bears out what was done in its life; its entry may come as late as the log is kept. */
const laterS = 400 * 24 * 60 * 60
const toleranceMs = 60_000

/**
 * Finds what bears out the author of an entry: the token of his request, or the approval of what he asked
 * for. The word of a service alone is no proof. Source: docs/contract.md, section 3, "Audit record".
 */
export function createProveAudit({
  stores: { approvals },
  signer,
  logger,
}: {
  stores: Pick<AuthStores, 'approvals'>
  signer: Pick<TokenSigner, 'keys'>
  logger: Pick<Logger, 'warn'>
}) {
  const verifier = createTokenVerifier({
    loadKeys: async () => (await signer.keys()).map(({ publicJwk }) => publicJwk),
    logger,
    nowMs: Date.now,
    verifiedMax,
    keysMaxAgeMs: 60_000,
  })

  async function isOfAuthor({ token, operator_id, actor, at }: AuditEntry): Promise<boolean> {
    if (token === undefined) return false
    try {
      const { op, sub, iat, exp } = await verifier.verify(token, laterS)
      const atMs = Date.parse(at)
      const isInLife = atMs >= iat * 1000 - toleranceMs && atMs <= exp * 1000 + toleranceMs
      return op === operator_id && sub === actor.id && isInLife
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') throw error
      return false
    }
  }

  async function isApproved({ approval, operator_id, actor, act }: AuditEntry): Promise<boolean> {
    if (approval === undefined || operator_id === null) return false
    const found = await approvals.find({ operatorId: operator_id }, approval.approval_id)
    const isGiven = found?.status === 'APPROVED' || found?.status === 'DONE'
    return isGiven && found.by.actor.id === actor.id && found.order.act === act
  }

  return async function prove(entry: AuditEntry): Promise<AuditProof> {
    if (await isOfAuthor(entry)) return 'token'
    return (await isApproved(entry)) ? 'approval' : 'none'
  }
}
export type ProveAudit = ReturnType<typeof createProveAudit>
