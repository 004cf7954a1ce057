import type { CertificationJob } from '@pitboss/storage/certification-jobs'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { createJobStore, jobIndexes } from '@pitboss/storage/job-store'
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

export type CertificationStore = ReturnType<typeof createCertifications>

export const certificationIndexes: Readonly<Record<'certifications', readonly IndexDeclaration[]>> = {
  certifications: jobIndexes,
}

export function createCertifications(db: Db) {
  return createJobStore(db.collection<CertificationDocument>('certifications'))
}
