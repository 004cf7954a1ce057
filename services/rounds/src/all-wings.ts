import { joinDeclarations } from '@pitboss/storage/wing'
import { coreAudited, coreIndexes } from './storage/indexes.ts'
import { sealedSeeds } from './storage/chain-seals.ts'
import type { Wing } from './wing.ts'
import { freeBets } from './wings/free-bets/wing.ts'
import { games } from './wings/games/wing.ts'
import { players } from './wings/players/wing.ts'
import { protection } from './wings/protection/wing.ts'
import { receipts } from './wings/receipts/wing.ts'
import { reports } from './wings/reports/wing.ts'
import { returns } from './wings/returns/wing.ts'

/** The wings of the service, in the order in which their folds count. */
export const allWings: readonly Wing[] = [reports, returns, protection, freeBets, games, players, receipts]

export const { indexes, audited, seals } = joinDeclarations([
  { indexes: coreIndexes, audited: coreAudited, seals: sealedSeeds },
  ...allWings,
])
