import { z } from 'zod'
import { accountMode, playerId } from '../primitives.ts'

/** The live tail of an account. Source: docs/contract.md, section 3, "Stream". */

export const tailKind = z.enum(['events', 'deliveries', 'movements', 'requests'])
export type TailKind = z.infer<typeof tailKind>

const text = z.string().min(1).max(128)
const kinds = new RegExp(`^(${tailKind.options.join('|')})(,(${tailKind.options.join('|')})){0,3}$`)

/** What a record must be to come; a record without such a field does not come. */
export const tailFilters = {
  type: text.optional(),
  event_type: text.optional(),
  status: text.optional(),
  player_id: playerId.optional(),
  session_id: text.optional(),
  round_id: text.optional(),
  webhook_id: text.optional(),
  event_id: text.optional(),
  api_key: text.optional(),
  method: text.optional(),
  code: text.optional(),
  request_id: text.optional(),
  /** Its beginning. */
  path: z.string().startsWith('/').max(256).optional(),
} as const

export const streamQuery = z.strictObject({
  environment: accountMode.optional(),
  /** One to four kinds, separated by commas. */
  kinds: z.string().regex(kinds, `must be of ${tailKind.options.join(', ')}, separated by commas`),
  ...tailFilters,
})
