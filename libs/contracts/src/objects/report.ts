import { z } from 'zod'
import { count, currency } from '../primitives.ts'

const reportRow = z.strictObject({
  day: z.string().optional(),
  game: z.string().optional(),
  brand: z.string().nullable().optional(),
  currency,
  rounds: count,
  players: count,
  stakes: z.string(),
  payouts: z.string(),
  refunds: z.string(),
  adjustments: z.string(),
  ggr: z.string(),
  restated_at: z.string().nullable().optional(),
})

/** Sums of money that moved, by what was asked for. Source: docs/contract.md, section 11, "Access". */
export const reportSchema = z.strictObject({ data: z.array(reportRow) })
