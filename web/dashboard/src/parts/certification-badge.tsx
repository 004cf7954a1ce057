import type { webhookCertificationSummarySchema } from '@pitboss/contracts/objects/certification'
import type * as z from 'zod'
import { Badge } from './badge.tsx'

type Result = Pick<z.output<typeof webhookCertificationSummarySchema>, 'status' | 'certified'>

/** Whether a certification runs, and how it ended. */
export function CertificationBadge({ of: { status, certified } }: { of: Result }) {
  const ended = certified === true ? 'CERTIFIED' : 'NOT CERTIFIED'
  return <Badge status={status === 'DONE' ? ended : status} />
}
