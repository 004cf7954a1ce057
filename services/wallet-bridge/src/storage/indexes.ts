import { auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { leaseIndexes } from '@pitboss/storage/lease'
import { certificationIndexes } from './certification-store.ts'
import { flagIndexes } from './flag-store.ts'
import { ledgerChunkIndexes } from './ledger-chunks.ts'
import { movementIndexes } from './movements.ts'
import { reconciliationIndexes } from './reconciliation-store.ts'
import { callbackIndexes } from './wallet-document.ts'

/** The collections whose changes are audited. */
export const auditedCollections = [
  'wallets',
  'movements',
  'flags',
  'certifications',
  'reconciliations',
] as const

/** Every index of the service, by collection. */
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
}
