import { notACursor } from '@pitboss/contracts/describe-issue'
import { z } from 'zod'
import { parseOrNull } from './parse-json.ts'
import { validatePart } from '@pitboss/contracts/validate-part'

/**
 * The cursor of a list as its client holds it: the cursor of the service, a dot and the filters of the list,
 * so that the next page needs the cursor alone. The filters need no signature of their own: the service signs
 * its cursor over them and refuses it with others. A cursor of an earlier release has no filters; the client
 * sends them beside it. Source: docs/contract.md, section 12.
 */

type Part = ReturnType<typeof validatePart>

const querySchema = z.record(z.string(), z.unknown())
const filtersSchema = z.record(z.string(), z.string())
const pageSchema = z.looseObject({ next_cursor: z.string() })
/** Fields that each page may choose anew. */
const ofThePage = new Set(['limit', 'cursor'])

const foreign = refused(notACursor)

function refused(message: string): Part {
  return { ok: false, details: [{ path: 'cursor', message }] }
}

/** Validates the query of a request, with the filters that its cursor carries. Never throws. */
export function validateQuery(schema: z.ZodType, given: Readonly<Record<string, string>>): Part {
  const asked = validatePart(schema, given, 'query')
  if (!asked.ok || given.cursor === undefined) return asked
  const [payload, mac, ...carried] = given.cursor.split('.')
  if (carried.length === 0) return asked
  const filters = carried.length === 1 ? decodeFilters(carried[0] ?? '') : null
  const own = querySchema.parse(asked.value)
  if (filters === null) return foreign
  const other = Object.keys(given).find((name) => !ofThePage.has(name) && String(own[name]) !== filters[name])
  if (other !== undefined) {
    return refused(`belongs to a list with another ${other}: leave ${other} out, or begin without a cursor`)
  }
  const resumed = validatePart(schema, { ...filters, ...given, cursor: `${payload}.${mac}` }, 'query')
  return resumed.ok ? resumed : foreign
}

/** Adds the filters of a validated query to the cursor of a service's page. */
export function withFilters(body: unknown, query: unknown): unknown {
  const filters = filtersOf(query)
  if (filters === null) return body
  const page = pageSchema.safeParse(body)
  return page.success
    ? { ...page.data, next_cursor: `${page.data.next_cursor}.${encodeFilters(filters)}` }
    : body
}

/** The filters of a query; null for none. */
function filtersOf(query: unknown): Record<string, string> | null {
  const fields = querySchema.parse(query ?? {})
  const filters = Object.entries(fields)
    .filter(([name, value]) => value !== undefined && !ofThePage.has(name))
    // as text, which the query is read from again
    .map(([name, value]) => [name, String(value)] as const)
  return filters.length === 0 ? null : Object.fromEntries(filters)
}

function encodeFilters(filters: Record<string, string>): string {
  return Buffer.from(JSON.stringify(filters)).toString('base64url')
}

/** Reverses `encodeFilters`; null for any other text. */
function decodeFilters(text: string): Record<string, string> | null {
  const filters = filtersSchema.safeParse(parseOrNull(Buffer.from(text, 'base64url')))
  if (!filters.success || encodeFilters(filters.data) !== text) return null
  const names = Object.keys(filters.data)
  return names.length > 0 && !names.some((name) => ofThePage.has(name)) ? filters.data : null
}
