import { z } from 'zod'
import { isCountry } from '../countries.ts'
import { jurisdictionName, stakeCapName } from '../jurisdictions.ts'
import {
  amount,
  brandId,
  currency,
  gameSlug,
  eventEnvironment,
  newPlayerId,
  playerId,
  sessionId,
} from '../primitives.ts'

/** Seconds from one reality check to the next. */
export const realityCheckS = z.int().min(60).max(86_400)

export const sessionStatus = z.enum(['ACTIVE', 'EXPIRED', 'CLOSED'])

const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 20, 'must have at most 20 pairs')

/** The public record of a session. Source: docs/contract.md, section 4. */
export const sessionSchema = z.strictObject({
  session_id: sessionId,
  status: sessionStatus,
  player_id: playerId,
  game: z.string(),
  currency,
  brand: brandId.nullable(),
  environment: eventEnvironment,
  language: z.string().nullable(),
  country: z.string().nullable(),
  return_url: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  limits: z.strictObject({ min_stake: amount.nullable(), max_stake: amount.nullable() }).nullable(),
  /** Absent for `NONE`. */
  jurisdiction: jurisdictionName.exclude(['NONE']).optional(),
  /** Seconds from one reality check to the next; absent where there is none. */
  reality_check_s: realityCheckS.optional(),
  /** The cap on a stake that it was opened with; absent where there is none. */
  stake_cap: stakeCapName.optional(),
  created_at: z.string(),
  expires_at: z.string(),
  closed_at: z.string().nullable(),
})
export type Session = z.infer<typeof sessionSchema>

/** A BCP 47 tag; the underscore that many systems write is taken for a hyphen. */
const languageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/, 'must be a language tag such as "en" or "pt-BR"')
  .transform((tag) => tag.replaceAll('_', '-'))

const countryCode = z
  .string()
  .max(2, 'must be an ISO 3166 code of two letters')
  .transform((code) => code.toUpperCase())
  .superRefine((code, context) => {
    if (code === 'UK') context.addIssue('must be an ISO 3166 code; that of the United Kingdom is "GB"')
    else if (!isCountry(code)) context.addIssue('must be an ISO 3166 code of two letters')
  })

/** The scheme that an environment asks for is judged where the environment is known. */
const returnUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2048)
  .refine((url) => !/\s/.test(url), 'must not have spaces; write %20')
  .refine(
    (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
    'must not have a user or a password',
  )

/** Body of `POST /v1/sessions`. */
export const sessionCreateSchema = z.strictObject({
  player_id: newPlayerId,
  game: gameSlug,
  currency,
  brand: z.string().min(1).max(64).optional(),
  language: languageTag.optional(),
  country: countryCode.optional(),
  return_url: returnUrl.optional(),
  metadata: metadata.optional(),
  expires_in_s: z.int().min(60).max(86_400).default(3600),
  limits: z.strictObject({ min_stake: amount.optional(), max_stake: amount.optional() }).optional(),
  jurisdiction: jurisdictionName.optional(),
  reality_check_s: realityCheckS.optional(),
  stake_cap: stakeCapName.optional(),
})
