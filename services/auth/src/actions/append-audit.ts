import type { opsAppendAudit } from '@pitboss/contracts/calls/auth-ops'
import type { z } from 'zod'
import type { AuditDocument } from '../storage/audits-store.ts'
import type { PageQuery } from '../storage/account.ts'
import type { AuthDeps } from './deps.ts'

/** Writes and lists the audit log of operations. Source: docs/contract.md, section 10. */
export function createAppendAudit({ stores: { audits }, clock, newId }: AuthDeps) {
  return {
    async append({ by, what, target, reason, details }: z.infer<typeof opsAppendAudit.request>) {
      const record: AuditDocument = { _id: newId('aud'), at: clock.now(), by, what, target, reason, details }
      await audits.insert(record)
      return record
    },

    /** Lists records, newest first. */
    list: (query: PageQuery) => audits.page(query),
  }
}
