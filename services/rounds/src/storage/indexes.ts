import { auditEntriesIndexes } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import { commitmentIndexes } from './commitments-store.ts'
import { gameIndexes } from './games-store.ts'
import { grantIndexes } from './grants-store.ts'
import { journalIndexes } from '@pitboss/storage/journal/mongodb-journal'
import { roundIndexes } from './round-lists.ts'
import { sessionIndexes } from './sessions-store.ts'

export const coreAudited = [
  'game_settings',
  'game_status',
  'sessions',
  'grants',
  'rewinds',
  'audit_entries',
] as const

export const coreIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  journal: journalIndexes,
  rounds: roundIndexes,
  commitments: commitmentIndexes,
  sessions: sessionIndexes,
  grants: grantIndexes,
  ...gameIndexes,
  ...auditEntriesIndexes,
  ...idempotencyKeyIndexes,
  ...rewindIndexes,
}
