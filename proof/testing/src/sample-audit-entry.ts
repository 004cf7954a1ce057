import { randomUUID } from 'node:crypto'
import type { AuditEntry } from '@pitboss/contracts/audit'

/** An audit entry for tests of stores, with an id of its own. */
export function sampleAuditEntry(operatorId: string | null = null): AuditEntry {
  return {
    audit_id: `aud_${randomUUID()}`,
    at: '2026-11-23T00:00:00.000Z',
    operator_id: operatorId,
    actor: { kind: 'user', id: 'usr_1', name: 'ada@casino.example' },
    client_address: '192.0.2.1',
    request_id: 'req_1',
    act: 'thing.change',
    object: { type: 'thing', id: 'thg_1' },
    before: { name: 'old' },
    after: { name: 'new' },
    reason: null,
  }
}
