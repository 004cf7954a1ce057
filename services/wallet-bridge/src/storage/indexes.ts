import { auditEntriesIndexes, auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { leaseIndexes } from '@pitboss/storage/lease'
import { certificationIndexes } from './certification-store.ts'
import { flagIndexes } from './flag-store.ts'
import { ledgerChunkIndexes } from './ledger-chunks.ts'
import { journalIndexes } from '@pitboss/storage/journal/mongodb-journal'
import { movementIndexes } from './listed-movements.ts'
import { reconciliationIndexes } from './reconciliation-store.ts'
import { upgradeIndexes } from './upgrade-storage.ts'
import { callbackIndexes } from './wallet-document.ts'

export const auditedCollections = [
  'wallets',
  'audit_entries',
  'flags',
  'certifications',
  'reconciliations',
] as const

export const indexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  wallets: [auditOutboxIndex],
  ...movementIndexes,
  ...callbackIndexes,
  ...flagIndexes,
  ...certificationIndexes,
  ...reconciliationIndexes,
  ...ledgerChunkIndexes,
  ...figureIndexes,
  ...leaseIndexes,
  journal: journalIndexes,
  ...auditEntriesIndexes,
  ...upgradeIndexes,
}
