import { auditEntriesIndexes, auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { journalIndexes } from '@pitboss/storage/journal/mongodb-journal'
import { leaseIndexes } from '@pitboss/storage/lease'
import { joinDeclarations } from '@pitboss/storage/wing'
import { movementIndexes } from './storage/listed-movements.ts'
import { upgradeIndexes } from './storage/upgrade-storage.ts'
import { callbackIndexes, sealedSecrets } from './storage/wallet-document.ts'
import type { Wing } from './wing.ts'
import { certifications } from './wings/certifications/wing.ts'
import { flags } from './wings/flags/wing.ts'
import { reconciliations } from './wings/reconciliations/wing.ts'

export const allWings: readonly Wing[] = [certifications, reconciliations, flags]

const coreIndexes = {
  wallets: [auditOutboxIndex],
  journal: journalIndexes,
  ...{ ...movementIndexes, ...callbackIndexes, ...figureIndexes, ...leaseIndexes },
  ...{ ...auditEntriesIndexes, ...upgradeIndexes },
}

const core = { indexes: coreIndexes, audited: ['wallets', 'audit_entries'], seals: sealedSecrets }
export const { indexes, audited, seals } = joinDeclarations([core, ...allWings])
