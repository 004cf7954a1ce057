import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Duty } from './duties.ts'

const entriesPerCall = 50

/**
 * Makes the duty that moves people's orders from entries to the audit log of auth. Without it they stay in
 * the journal.
 * @param append writes entries into the log and passes over those that it has
 */
export function auditDuty<Fact>(append: (entries: readonly AuditEntry[]) => Promise<unknown>): Duty<Fact> {
  return {
    name: 'audit',
    async run(entries) {
      const orders = entries.flatMap(({ au }) => au ?? [])
      for (let at = 0; at < orders.length; at += entriesPerCall)
        await append(orders.slice(at, at + entriesPerCall))
    },
  }
}
