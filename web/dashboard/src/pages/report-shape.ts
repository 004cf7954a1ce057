import * as z from 'zod'

/** The rows of `GET /v1/dashboard/reports/summary`. Source: docs/contract.md, section 11. */
export const reportSchema = z.object({
  data: z.array(
    z.object({
      currency: z.string(),
      rounds: z.int(),
      players: z.int(),
      stakes: z.string(),
      payouts: z.string(),
      refunds: z.string(),
      ggr: z.string(),
    }),
  ),
})
