import type { Clock } from '@pitboss/runtime/clock'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import type { WalletClient } from '../clients/wallet-client.ts'
import { createCertifications } from '../storage/certification-store.ts'
import { createLedgerChunks } from '../storage/ledger-chunks.ts'
import { createReconciliations } from '../storage/reconciliation-store.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import { createKeepCertifications } from './keep-certifications.ts'
import { createKeepReconciliations } from './keep-reconciliations.ts'
import type { ReconcileLedger } from './reconcile-ledger.ts'
import { createRunCertification } from './run-certification.ts'
import { createRunReconciliation } from './run-reconciliation.ts'

export type Jobs = ReturnType<typeof createJobs>

/**
 * The kinds of work that people order and wait for. Of each kind: what a worker takes, and what is asked
 * about it, which has the worker woken at an order.
 */
export function createJobs({
  db,
  wallets,
  client,
  reconcile,
  cursors,
  audit,
  clock,
  newId,
}: {
  db: Db
  wallets: Wallets
  client: WalletClient
  reconcile: ReconcileLedger
  cursors: CursorCodec
  audit: Pick<AuditOutbox, 'entry'>
  clock: Clock
  newId: (prefix: string) => string
}) {
  const certifications = createCertifications(db)
  const reconciliations = createReconciliations(db)
  const chunks = createLedgerChunks(db)
  return {
    certification: {
      work: {
        jobs: certifications,
        work: createRunCertification({ certifications, wallets, client, clock }),
      },
      keep: (wake: () => void) =>
        createKeepCertifications({ certifications, wallets, cursors, audit, clock, newId, wake }),
    },
    reconciliation: {
      work: {
        jobs: reconciliations,
        work: createRunReconciliation({ reconciliations, chunks, reconcile, clock }),
      },
      keep: (wake: () => void) =>
        createKeepReconciliations({ reconciliations, chunks, cursors, audit, clock, wake }),
    },
  }
}
