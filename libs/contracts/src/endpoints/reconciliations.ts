import { z } from 'zod'
import { defineEndpoint, everybody } from '../endpoint.ts'
import { reconciliationSchema, reconciliationSummarySchema } from '../objects/reconciliation.ts'
import { accountMode, pageOf, pageQuery } from '../primitives.ts'

/** Reads and cancels of reconciliations, which wallet-bridge answers. Source: docs/contract.md, section 3. */

const environment = accountMode.optional()
const one = {
  params: z.strictObject({ reconciliation_id: z.string().max(64) }),
  query: z.strictObject({ environment }),
}

export const listReconciliations = defineEndpoint('GET /v1/dashboard/reports/reconciliation', {
  access: everybody,
  subject: 'wallet.v1.reconciliation.list',
  query: z.strictObject({ environment, ...pageQuery }),
  reply: pageOf(reconciliationSummarySchema),
})
export const getReconciliation = defineEndpoint(
  'GET /v1/dashboard/reports/reconciliation/{reconciliation_id}',
  {
    access: everybody,
    subject: 'wallet.v1.reconciliation.show',
    ...one,
    reply: reconciliationSchema,
  },
)
export const cancelReconciliation = defineEndpoint(
  'POST /v1/dashboard/reports/reconciliation/{reconciliation_id}/cancel',
  {
    access: everybody,
    subject: 'wallet.v1.reconciliation.cancel',
    ...one,
    reply: reconciliationSchema,
  },
)
