import type { Scope } from '@pitboss/contracts/caller'
import type { AuditFilters } from '../storage/audits-store.ts'
import type { PageQuery } from '../storage/page.ts'
import type { AuthDeps } from './deps.ts'

const defaultWindowMs = 7 * 24 * 60 * 60 * 1000

/** Lists who changed what in an account. Source: docs/contract.md, section 12. */
export function createReadAudit({ stores: { audits } }: Pick<AuthDeps, 'stores'>) {
  /** Newest first; a list with an end alone begins 7 days before it. */
  return function readAudit(scope: Scope, { limit, cursor, ...filters }: AuditFilters & PageQuery) {
    const { from, to } = filters
    const start =
      from === undefined && to !== undefined
        ? new Date(new Date(to).getTime() - defaultWindowMs).toISOString()
        : from
    return audits.page(scope, { ...filters, from: start }, { limit, cursor })
  }
}
