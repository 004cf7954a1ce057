import { z } from 'zod'
import { actingCharacters } from '../acting-characters.ts'
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

/** RFC 5646, section 2.1: language, script, region, variants, extensions, and what is for private use. */
const languageTagPattern =
  /^([a-z]{2,3}(-[a-z]{3}){0,3}|[a-z]{4,8})(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[a-wyz\d](-[a-z\d]{2,8})+)*(-x(-[a-z\d]{1,8})+)?$/i

/** A BCP 47 tag; the underscore that many systems write is taken for a hyphen. */
const languageTag = z
  .string()
  .max(35)
  .transform((tag) => tag.replaceAll('_', '-'))
  .refine((tag) => languageTagPattern.test(tag), 'must be a language tag such as "en" or "pt-BR"')

const acting = new RegExp(`[${actingCharacters}]`, 'u')

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
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^/]/i, 'must be an http or https address')
  .refine((url) => URL.canParse(url), 'must be an http or https address')
  .refine((url) => !/\s/.test(url), 'must not have spaces; write %20')
  .refine((url) => !acting.test(url), 'must not have control characters or marks of direction')
  .refine((url) => !url.includes('\\'), 'must not have backslashes; write %5C')
  .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'must not have a user or a password')

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
