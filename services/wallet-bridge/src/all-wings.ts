import { joinDeclarations } from '@pitboss/storage/wing'
import { coreAudited, coreIndexes } from './storage/indexes.ts'
import { sealedSecrets } from './storage/sealed-places.ts'
import type { Wing } from './wing.ts'
import { certifications } from './wings/certifications/wing.ts'
import { flags } from './wings/flags/wing.ts'
import { reconciliations } from './wings/reconciliations/wing.ts'

export const allWings: readonly Wing[] = [certifications, reconciliations, flags]

export const { indexes, audited, seals } = joinDeclarations([
  { indexes: coreIndexes, audited: coreAudited, seals: sealedSecrets },
  ...allWings,
])
