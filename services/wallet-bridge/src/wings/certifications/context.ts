import type { Jobs } from '@pitboss/storage/jobs'
import type { WalletContext } from '../../context.ts'
import type { CertificationDocument } from './storage/certification-store.ts'

export type CertificationContext = WalletContext & {
  readonly certifications: Jobs<CertificationDocument, 'cases'>
}
