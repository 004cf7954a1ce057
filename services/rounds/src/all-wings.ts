import { joinDeclarations } from '@pitboss/storage/wing'
import { auditEntriesIndexes } from '@pitboss/storage/audit-outbox'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import { journalIndexes } from '@pitboss/storage/journal/mongodb-journal'
import { sealedSeeds } from './storage/chain-seals.ts'
import { commitmentIndexes } from './storage/commitments-store.ts'
import { gameIndexes } from './storage/games-store.ts'
import { grantIndexes } from './storage/grants-store.ts'
import { roundIndexes } from './storage/round-lists.ts'
import { sessionIndexes } from './storage/sessions-store.ts'
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

const core = {
  audited: ['game_settings', 'game_status', 'sessions', 'grants', 'rewinds', 'audit_entries'],
  indexes: {
    journal: journalIndexes,
    rounds: roundIndexes,
    commitments: commitmentIndexes,
    sessions: sessionIndexes,
    grants: grantIndexes,
    ...gameIndexes,
    ...auditEntriesIndexes,
    ...idempotencyKeyIndexes,
    ...rewindIndexes,
  },
  seals: sealedSeeds,
}
export const { indexes, audited, seals } = joinDeclarations([core, ...allWings])
