import type { CertificationJob } from '@pitboss/storage/certification-jobs'
import { createJobStore } from '@pitboss/storage/job-store'
import type { Db } from 'mongodb'

/** A certification of a TEST endpoint's receiver; `subject` is the endpoint's id. */
export type CertificationDocument = CertificationJob & {
  /** When the newest secret was made: another one by now is not the one that was asked about. */
  readonly secretCreatedAt: Date
}

export function createCertifications(db: Db) {
  return createJobStore(db.collection<CertificationDocument>('certifications'), 'cases')
}
