import { z } from 'zod'
import { roundSchema } from '../objects/round.ts'
import { pageOf } from '../primitives.ts'

/** Parts that several routes of the rounds service share. Source: docs/contract.md, sections 4, 5 and 11. */

export const roundParam = z.strictObject({ round_id: z.string().max(64) })
export const roundsPage = pageOf(roundSchema)

/** Time for a wallet call of at most 15 s and the writes after it. */
export const walletBudgetMs = 18_000
