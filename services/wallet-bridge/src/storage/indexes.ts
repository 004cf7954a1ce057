import { auditEntriesIndexes, auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { leaseIndexes } from '@pitboss/storage/lease'
import { journalIndexes } from '@pitboss/storage/journal/mongodb-journal'
import { movementIndexes } from './listed-movements.ts'
import { upgradeIndexes } from './upgrade-storage.ts'
import { callbackIndexes } from './wallet-document.ts'

export const coreAudited = ['wallets', 'audit_entries'] as const

export const coreIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  wallets: [auditOutboxIndex],
  ...movementIndexes,
  ...callbackIndexes,
  ...figureIndexes,
  ...leaseIndexes,
  journal: journalIndexes,
  ...auditEntriesIndexes,
  ...upgradeIndexes,
}
