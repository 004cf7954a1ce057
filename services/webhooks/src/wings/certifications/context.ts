import type { Jobs } from '@pitboss/storage/jobs'
import type { WebhooksContext } from '../../context.ts'
import type { WingGiven } from '../../wing.ts'
import type { CertificationDocument } from './storage/certification-store.ts'

export type CertificationContext = WebhooksContext &
  Pick<WingGiven, 'post'> & { readonly certifications: Jobs<CertificationDocument, 'cases'> }
