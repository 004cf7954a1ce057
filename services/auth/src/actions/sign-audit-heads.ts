import { type AuditHead, auditHeadType } from '@pitboss/contracts/audit-chain'
import type { AuthDeps } from './deps.ts'

const everyMs = 60 * 60 * 1000
const perSweepMax = 50
const platform = 'platform'

/**
 * Signs the ends of the chains that have grown, once an hour each: what was signed can no longer be changed
 * or cut off unseen. Source: docs/contract.md, section 3, "Audit record".
 */
export function createSignAuditHeads({
  stores: { audits },
  signer,
  clock,
}: Pick<AuthDeps, 'stores' | 'signer' | 'clock'>) {
  return async function sweep(): Promise<void> {
    const now = clock.now()
    const dueAt = new Date(now.getTime() + everyMs)
    for (const due of await audits.headsDue(now, perSweepMax)) {
      const link = await audits.lastLink(due._id)
      if (link === null) continue
      const { seq, hash } = link
      const operator_id = due._id === platform ? null : due._id
      const head: AuditHead = { operator_id, seq, hash, at: now.toISOString() }
      const jws = await signer.signDocument(auditHeadType, JSON.stringify(head))
      await audits.sign(due, { seq, hash, at: now, jws }, dueAt)
    }
  }
}
