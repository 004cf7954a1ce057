import type { AuditEntry } from '@pitboss/contracts/audit'
import type { AuditSource } from '@pitboss/contracts/audit-chain'
import type { Clock } from '@pitboss/runtime/clock'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { ProveAudit } from './prove-audit.ts'

/** Takes entries of a service into the log: proven, stamped and chained; gives the number of new ones. */
export type TakeAudit = (source: AuditSource, entries: readonly AuditEntry[]) => Promise<number>

export function createTakeAudit({
  stores: { audits },
  prove,
  clock,
}: {
  stores: Pick<AuthStores, 'audits'>
  prove: ProveAudit
  clock: Clock
}): TakeAudit {
  return async (source, entries) => {
    const proven = async (entry: AuditEntry) => ({ entry, source, proof: await prove(entry) })
    return audits.append(await Promise.all(entries.map(proven)), clock.now())
  }
}
