import type { CertificationJob } from '@pitboss/storage/certification-jobs'
import { createJobStore } from '@pitboss/storage/job-store'
import type { Db } from 'mongodb'

/** A certification of a TEST wallet; `subject` is the wallet's key. */
export type CertificationDocument = CertificationJob & {
  /** When the wallet had been changed: another one by now is not the wallet that was asked about. */
  readonly walletUpdatedAt: Date
  readonly playerId: string
  readonly currency: string
  readonly blockedPlayerId: string | null
  readonly unknownPlayerId: string | null
}

export function createCertifications(db: Db) {
  return createJobStore(db.collection<CertificationDocument>('certifications'), 'cases')
}
