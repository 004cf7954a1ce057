import { joinDeclarations } from '@pitboss/storage/wing'
import { coreAudited, coreIndexes, sealedSecrets } from './storage/indexes.ts'
import type { Wing } from './context.ts'
import { certifications } from './wings/certifications/wing.ts'
import { replays } from './wings/replays/wing.ts'

export const allWings: readonly Wing[] = [certifications, replays]

const core = { indexes: coreIndexes, audited: coreAudited, seals: sealedSecrets }
export const { indexes, audited, seals } = joinDeclarations([core, ...allWings])
