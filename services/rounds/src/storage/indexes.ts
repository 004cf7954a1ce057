import { auditEntriesIndexes } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { leaseIndexes } from '@pitboss/storage/lease'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import { commitmentIndexes } from './commitments-store.ts'
import { deadIdIndexes } from './dead-ids-store.ts'
import { gameIndexes } from './games-store.ts'
import { grantIndexes } from './grants-store.ts'
import { roundIndexes } from './rounds-store.ts'
import { sessionIndexes } from './sessions-store.ts'

/** The core's collections whose changes are audited. */
export const coreAudited = [
  'game_settings',
  'game_status',
  'sessions',
  'grants',
  'rewinds',
  'audit_entries',
] as const

/** The indexes of the core, by collection. */
export const coreIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  rounds: roundIndexes,
  commitments: commitmentIndexes,
  sessions: sessionIndexes,
  dead_ids: deadIdIndexes,
  grants: grantIndexes,
  ...gameIndexes,
  ...auditEntriesIndexes,
  ...idempotencyKeyIndexes,
  ...leaseIndexes,
  ...rewindIndexes,
}
