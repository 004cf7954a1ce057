import { z } from 'zod'
import { actingCharacters } from './acting-characters.ts'

/** Shapes that many public objects share. Source: docs/contract.md, section 1 unless said otherwise. */

const crockford26 = '[0-9a-hjkmnp-tv-z]{26}'
const prefixedId = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_${crockford26}$`), `must be ${prefix}_ and 26 characters`)

export const sessionId = prefixedId('ses')
export const roundId = prefixedId('rnd')
export const eventId = prefixedId('evt')
export const webhookId = prefixedId('whe')
export const deliveryId = prefixedId('dlv')
export const replayId = prefixedId('rpl')
export const brandId = prefixedId('brd')
export const grantId = prefixedId('frb')
export const stopId = prefixedId('stp')
export const userId = prefixedId('usr')
export const viewId = prefixedId('viw')
export const flagId = prefixedId('flg')
export const approvalId = prefixedId('apr')
/** Who approved: a person of the account, or two of operations in its place. */
export const approverId = z.union([userId, z.literal('operations')])
export const uuid = z.uuid()

/** `op_` and the 32 hex digits of the operator's uuid. */
export const operatorHandle = z.string().regex(/^op_[0-9a-f]{32}$/, 'must be op_ and 32 hex digits')

export const apiKey = z
  .string()
  .regex(/^ck_(test|live)_[0-9A-Za-z]{24}$/, 'must be ck_test_ or ck_live_ and 24 characters')

/** A movement's idempotency key, chosen by the operator or by us. docs/contract.md, section 5. */
export const transactionId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 _ . : -')

/** As above, without `.` and `..`, which no path has. One pattern that any language reads. */
export const newTransactionId = z
  .string()
  .regex(
    /^([A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,127}|\.[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,126}|\.\.[A-Za-z0-9_.:-]{1,126})$/,
    'must be 1 to 128 characters of A-Z a-z 0-9 _ . : -, and neither "." nor ".."',
  )

/** A number of things, or of seconds: whole, from 0. */
export const count = z.int().min(0)

/** The number of an attempt, from 1. */
export const attempt = z.int().min(1)

/** The number of a round of a player's game, from 1. docs/contract.md, section 4. */
export const nonce = z.int().min(1)

/** An HTTP status as a server wrote it, known or not. */
export const httpStatus = z.int().min(100).max(999)

/** Milliseconds that something took. A machine may have slept meanwhile, so that no day is too long. */
export const elapsedMs = z.int().min(0)

/** The outer shape of an amount; its decimals are checked where the currency is known. */
export const amount = z
  .string('must be a decimal string such as "10.00"')
  .regex(/^(0|[1-9][0-9]{0,14})(\.[0-9]{1,18})?$/, 'must be a decimal string such as "10.00"')

/** A player's balance as the wallet tells it; it may be negative, and larger than an amount. */
export const balance = z
  .string()
  .regex(/^-?(0|[1-9][0-9]{0,29})(\.[0-9]{1,18})?$/, 'must be a decimal string such as "10.00"')

export const currency = z.string().regex(/^[A-Z]{3,5}$/, 'must be a currency code such as "USD"')

const notAnInstant = 'must be an ISO 8601 time in UTC such as 2026-11-20T09:30:00.000Z'
const notATime =
  'must be a time with its offset, such as 2026-11-20T09:30:00.000Z or 2026-11-20T10:30:00+01:00'
const plusAsSpace = `${notATime}; write the plus of an offset as %2B`
/** Bound of an instant's text, with room for a long fraction; cursors carry instants. */
const instantCharactersMax = 64

/** An instant in UTC, with or without milliseconds; impossible dates are refused. */
export const instant = z.iso.datetime({ error: notAnInstant }).max(instantCharactersMax, notAnInstant)

/**
 * An instant as a client writes it: an RFC 3339 time with any offset. Becomes UTC with milliseconds; finer
 * fractions are cut. docs/contract.md, section 1.
 */
export const givenInstant = z
  .string(notATime)
  .max(instantCharactersMax, notATime)
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const read = readTime(text)
    if (read !== null) return read
    const message = / \d\d:\d\d$/.test(text) ? plusAsSpace : notATime
    context.issues.push({ code: 'custom', message, input: text })
    return z.NEVER
  })

const timePattern =
  /^(?<date>\d{4}-\d\d-\d\d)[Tt](?<minute>([01]\d|2[0-3]):[0-5]\d)(:(?<second>[0-5]\d)(\.(?<fraction>\d+))?)?(?<offset>[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** An RFC 3339 time as UTC text with milliseconds; null for what is none, or has a date that is not. */
function readTime(text: string): string | null {
  const {
    date = '',
    minute,
    second = '00',
    fraction = '',
    offset = '',
  } = timePattern.exec(text)?.groups ?? {}
  const midnight = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) return null
  const millis = fraction.slice(0, 3).padEnd(3, '0')
  const time = new Date(`${date}T${minute}:${second}.${millis}${offset.toUpperCase()}`)
  return /^\d{4}-/.test(time.toISOString()) ? time.toISOString() : null
}

const playerCharactersMax = 128
const tooLong = `must have at most ${playerCharactersMax} characters`

/** A player's id, as sessions of any release have it. Counted in code points. */
export const playerId = z
  .string()
  .min(1)
  .max(2 * playerCharactersMax, tooLong)
  .refine((id) => Array.from(id).length <= playerCharactersMax, tooLong)

/** Control characters, line and paragraph separators, marks of direction, and what nobody sees. */
const unseen = new RegExp(`[${actingCharacters}\u200b\u2060\ufeff]`, 'u')
const unseenAtAnEnd = /^[\s\u200c\u200d]|[\s\u200c\u200d]$/u

/** The id of a player in a new session: what looks alike is alike. docs/contract.md, section 4. */
export const newPlayerId = playerId
  .refine((id) => id === id.normalize('NFC'), 'must be in the Unicode form NFC')
  .refine((id) => !unseen.test(id), 'must not have control characters or characters that nobody sees')
  .refine((id) => !unseenAtAnEnd.test(id), 'must not begin or end with white space or a joiner')
  .refine((id) => id !== '.' && id !== '..', 'must be neither "." nor ".."')

/** A name or another short text that people read: one line without marks of direction. */
export const shownText = (charactersMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charactersMax)
    .refine((text) => !acting.test(text), 'must not have control characters or marks of direction')

/** A note: as a name, but it may be empty and have line breaks and tabs. */
export const noteText = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .refine(
      (text) => !acting.test(text.replaceAll(/\r?\n|\t/g, '')),
      'must not have control characters but line breaks, nor marks of direction',
    )

const acting = new RegExp(`[${actingCharacters}]`, 'u')

export const gameSlug = z.string().min(1).max(64)
export const clientSeed = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, 'must be at most 64 characters of A-Z a-z 0-9 _ -')

/** Events happen in `SANDBOX` or `LIVE`; accounts set up `TEST` or `LIVE`. docs/contract.md, section 11. */
export const eventEnvironment = z.enum(['SANDBOX', 'LIVE'])
export const accountMode = z.enum(['TEST', 'LIVE'])
export type EventEnvironment = z.infer<typeof eventEnvironment>
export type AccountMode = z.infer<typeof accountMode>

/**
 * `limit` of a list: 1 to 200, default 50. Takes the text of a query string and, so that a parsed query can
 * be parsed again behind the bus, the number too.
 */
export const limit = z
  .union([
    z.int().min(1).max(200),
    z
      .string('must be a whole number from 1 to 200')
      .regex(/^([1-9][0-9]?|1[0-9]{2}|200)$/, 'must be a whole number from 1 to 200')
      .transform((text) => Number.parseInt(text, 10)),
  ])
  .default(50)

export const cursor = z.string().min(1).max(2048)

/** The two fields that every list query has. */
export const pageQuery = { limit, cursor: cursor.optional() } as const

/** The window that time-bounded lists take; both ends are inclusive. */
export const windowQuery = { from: givenInstant.optional(), to: givenInstant.optional() } as const

export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,128}$/, 'must be 1 to 128 printable characters')

/** A page of any list. docs/contract.md, section 1. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })

/** The environment of the events that a setting produces. Source: docs/contract.md, section 11. */
export function toEventEnvironment(environment: AccountMode): EventEnvironment {
  return environment === 'LIVE' ? 'LIVE' : 'SANDBOX'
}

/** The reverse of `toEventEnvironment`. */
export function toAccountMode(environment: EventEnvironment): AccountMode {
  return environment === 'LIVE' ? 'LIVE' : 'TEST'
}

/** An account's name for people: `op_` and its uuid without dashes. Source: docs/contract.md, section 1. */
export function operatorHandleOf(operatorId: string): string {
  return `op_${operatorId.replaceAll('-', '')}`
}

/** The uuid behind a handle or a uuid, however its letters are written; null for any other text. */
export function operatorIdOf(text: string): string | null {
  const hex = (text.startsWith('op_') ? text.slice(3) : text.replaceAll('-', '')).toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return null
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
