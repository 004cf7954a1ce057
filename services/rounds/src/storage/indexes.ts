import { auditEntriesIndexes } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { leaseIndexes } from '@pitboss/storage/lease'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import { commitmentIndexes } from './commitments-store.ts'
import { deadIdIndexes } from './dead-ids-store.ts'
import { gameIndexes } from './games-store.ts'
import { grantIndexes } from './grants-store.ts'
import { paceIndexes } from './paces-store.ts'
import { playerLimitIndexes } from './player-limits-store.ts'
import { reportIndexes } from './reports-store.ts'
import { returnIndexes } from './returns-store.ts'
import { roundIndexes } from './rounds-store.ts'
import { sessionIndexes } from './sessions-store.ts'
import { stopIndexes } from './stops-store.ts'

/** The collections whose changes are audited. */
export const auditedCollections = [
  'game_settings',
  'game_status',
  'sessions',
  'grants',
  'player_stops',
  'player_limits',
  'return_alarms',
  'rewinds',
  'audit_entries',
] as const

/** Every index of the service, by collection. */
export const indexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  rounds: roundIndexes,
  commitments: commitmentIndexes,
  sessions: sessionIndexes,
  dead_ids: deadIdIndexes,
  grants: grantIndexes,
  paces: paceIndexes,
  player_stops: stopIndexes,
  player_limits: playerLimitIndexes,
  ...gameIndexes,
  ...auditEntriesIndexes,
  ...reportIndexes,
  ...returnIndexes,
  ...idempotencyKeyIndexes,
  ...leaseIndexes,
  ...rewindIndexes,
}
