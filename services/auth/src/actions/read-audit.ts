import type { Scope } from '@pitboss/contracts/caller'
import { readWindow } from '@pitboss/storage/created-within'
import type { AuditFilters } from '../storage/audits-store.ts'
import type { PageQuery } from '../storage/page.ts'
import type { AuthDeps } from './deps.ts'

/** Lists who changed what in an account. Source: docs/contract.md, section 12. */
export function createReadAudit({ stores: { audits } }: Pick<AuthDeps, 'stores'>) {
  /** Newest first; a list with an end alone begins 7 days before it. */
  return function readAudit(scope: Scope, { limit, cursor, ...filters }: AuditFilters & PageQuery) {
    const from = filters.from ?? readWindow(filters).from?.toISOString()
    return audits.page(scope, { ...filters, from }, { limit, cursor })
  }
}

const unlinkedMax = 100

/** Reads an account's chain, or that of the platform, for who verifies it. */
export function createReadAuditChain({ stores: { audits }, signer }: Pick<AuthDeps, 'stores' | 'signer'>) {
  return async (operatorId: string | null, { from_seq, limit }: { from_seq: number; limit: number }) => {
    const [first] = await audits.links(operatorId, 1, 1)
    const [links, keys, head] = await Promise.all([
      audits.links(operatorId, from_seq, limit),
      signer.recordKeys(),
      operatorId === null ? audits.headOfPlatform() : audits.head({ operatorId }),
    ])
    const unlinked =
      first === undefined ? [] : await audits.unlinked(operatorId, new Date(first.taken_at), unlinkedMax)
    return { links, unlinked, head: head?.jws ?? null, keys: keys.map(({ publicJwk }) => publicJwk) }
  }
}
