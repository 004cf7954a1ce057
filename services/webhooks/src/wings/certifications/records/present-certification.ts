import { summaryOf } from '@pitboss/contracts/certification/progress'
import type {
  webhookCertificationSchema,
  webhookCertificationSummarySchema,
} from '@pitboss/contracts/objects/certification'
import type { z } from 'zod'
import type { CertificationDocument } from '../storage/certification-store.ts'

/** The public record of a certification without its cases. Source: docs/contract.md, section 3. */
export function presentCertificationSummary(
  job: Omit<CertificationDocument, 'cases'>,
): z.infer<typeof webhookCertificationSummarySchema> {
  return { ...summaryOf(job), webhook_id: job.subject }
}

export function presentCertification(job: CertificationDocument): z.infer<typeof webhookCertificationSchema> {
  return { ...presentCertificationSummary(job), cases: [...job.cases] }
}
