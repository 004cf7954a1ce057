import { z } from 'zod'
import { acknowledgedChangeMs } from '../call.ts'
import { defineEndpoint, everybody, flagWriters, ownerAndAdmin } from '../endpoint.ts'
import {
  flagCaseSchema,
  flagPatchSchema,
  flagRule,
  flagRulesSchema,
  flagSchema,
  flagStatus,
} from '../objects/flag.ts'
import { accountMode, pageOf, pageQuery, playerId, windowQuery } from '../primitives.ts'

/** Flags of movements, which wallet-bridge raises and keeps. Source: docs/contract.md, section 3. */

const flagParam = z.strictObject({ flag_id: z.string().max(64) })
const rulesParam = z.strictObject({ environment: accountMode })
const either = z.strictObject({ environment: accountMode.optional() })

export const listFlags = defineEndpoint('GET /v1/dashboard/flags', {
  access: everybody,
  subject: 'wallet.v1.flag.list',
  query: z.strictObject({
    environment: accountMode.optional(),
    rule: flagRule.optional(),
    status: flagStatus.optional(),
    player_id: playerId.optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: pageOf(flagSchema),
})
export const getFlag = defineEndpoint('GET /v1/dashboard/flags/{flag_id}', {
  access: everybody,
  subject: 'wallet.v1.flag.show',
  params: flagParam,
  query: either,
  reply: flagCaseSchema,
})
export const patchFlag = defineEndpoint('PATCH /v1/dashboard/flags/{flag_id}', {
  access: flagWriters,
  subject: 'wallet.v1.flag.change',
  params: flagParam,
  query: either,
  body: flagPatchSchema,
  reply: flagCaseSchema,
})
export const getFlagRules = defineEndpoint('GET /v1/dashboard/flag-rules/{environment}', {
  access: everybody,
  subject: 'wallet.v1.flag-rules.show',
  params: rulesParam,
  reply: flagRulesSchema,
})
export const putFlagRules = defineEndpoint('PUT /v1/dashboard/flag-rules/{environment}', {
  access: ownerAndAdmin,
  subject: 'wallet.v1.flag-rules.put',
  params: rulesParam,
  body: flagRulesSchema,
  reply: flagRulesSchema,
  budgetMs: acknowledgedChangeMs,
})
