import * as z from 'zod'

const found = z.object({
  type: z.enum([
    ...['session', 'round', 'transaction', 'event', 'delivery', 'endpoint', 'key', 'flag'],
    ...['approval', 'reconciliation', 'certification', 'player'],
  ] as const),
  id: z.string(),
  environment: z.enum(['SANDBOX', 'LIVE']),
  webhook_id: z.string().optional(),
})
export type Found = z.output<typeof found>

/** The answer of a search by id. Source: docs/contract.md, section 3, "Search". */
export const searchReply = z.object({ data: z.array(found) })
