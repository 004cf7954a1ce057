import type { IncomingMessage } from 'node:http'
import {
  type ErrorDetail,
  invalidField,
  invalidFields,
  readAll,
  ServiceError,
} from '@pitboss/errors/service-error'
import { z } from 'zod'
import { validateQuery } from './list-cursor.ts'
import { parseJson } from './parse-json.ts'
import { withoutNulls } from './without-nulls.ts'
import { type BodyRules, hasBody, readBody, requireJsonContent } from './read-body.ts'
import { validatePart } from '@pitboss/contracts/validate-part'
import type { RouteEntry } from '../routes/route-entry.ts'

export type Input = { params: Record<string, string>; query: unknown; body: unknown }

const nothing = z.strictObject({})
const pairsMax = 64
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads and validates query, body and path of a request together: the details name every offending path of
 * query and body.
 * @throws ServiceError VALIDATION_ERROR, or the route's not-found code for an id that cannot be.
 */
export async function readInput({
  entry,
  raw,
  params,
  rules,
}: {
  entry: RouteEntry
  raw: IncomingMessage
  params: Readonly<Record<string, string>>
  rules: BodyRules
}): Promise<Input> {
  const { shapes } = entry
  if (shapes.body === 'bytes') return { params, query: {}, body: await readBody(raw, rules) }
  const body = shapes.body === 'raw' ? undefined : await readJson(raw, rules)
  const details: ErrorDetail[] = []
  const keep = (part: ReturnType<typeof validatePart>): unknown => {
    if (part.ok) return part.value
    details.push(...part.details)
    return undefined
  }
  const query = entry.anyQuery ? {} : keep(validateQuery(shapes.query, parseQuery(raw.url ?? '/')))
  const parsedBody = shapes.body === 'raw' ? undefined : keep(validateBody(entry, body))
  if (details.length > 0) throw invalidFields(details)
  if (shapes.params !== null && !shapes.params.safeParse(params).success) {
    throw new ServiceError(entry.notFound)
  }
  return { params, query, body: parsedBody }
}

const settlementSchema = z.object({ type: z.enum(['WIN', 'REFUND', 'ROLLBACK']) })

/** Whether a movement settles, so that it is never limited or shed. Source: docs/contract.md, section 8. */
export function isSettlement(body: unknown): boolean {
  return settlementSchema.safeParse(body).success
}

async function readJson(raw: IncomingMessage, rules: BodyRules): Promise<unknown> {
  if (!hasBody(raw)) return undefined
  const bytes = await readBody(raw, rules)
  if (bytes.length === 0) return undefined
  requireJsonContent(raw)
  return parseJson(bytes)
}

/**
 * A route without a body takes none or `{}`. A POST whose body has no required field takes none too.
 */
function validateBody({ shapes, method }: RouteEntry, body: unknown): ReturnType<typeof validatePart> {
  if (shapes.body === null || typeof shapes.body === 'string') {
    const part = validatePart(nothing, body === undefined ? {} : body, 'body')
    return part.ok ? { ok: true, value: undefined } : part
  }
  if (body !== undefined)
    return validatePart(shapes.body, withoutNulls(shapes.body, body, { clears: method === 'PATCH' }), 'body')
  const withoutFields = method === 'POST' ? validatePart(shapes.body, {}, 'body') : null
  if (withoutFields?.ok === true) return withoutFields
  return { ok: false, details: [{ path: 'body', message: 'is required' }] }
}

/**
 * Reads the query of a request target, every key once. `+` is a space, as forms write it.
 * @throws ServiceError VALIDATION_ERROR with the key as path, or `query` when there is none to name.
 */
function parseQuery(target: string): Record<string, string> {
  const mark = target.indexOf('?')
  if (mark === -1 || mark === target.length - 1) return {}
  const pairs = target.slice(mark + 1).split('&')
  if (pairs.length > pairsMax) throw invalidField('query', `must not have more than ${pairsMax} fields`)
  const fields = new Map<string, string>()
  const readPair = (pair: string) => {
    const equals = pair.indexOf('=')
    const key = decode(equals === -1 ? pair : pair.slice(0, equals), null)
    if (key === '') throw invalidField('query', 'must not have a field without a name')
    if (fields.has(key)) throw invalidField(key, 'must not appear twice')
    if (refusedKeys.has(key)) throw invalidField(key, 'is not a known field')
    fields.set(key, equals === -1 ? '' : decode(pair.slice(equals + 1), key))
  }
  readAll(...pairs.filter((pair) => pair !== '').map((pair) => () => readPair(pair)))
  return Object.fromEntries(fields)
}

function decode(text: string, key: string | null): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalidField(key ?? 'query', 'has a bad escape')
  }
  if (decoded.includes('\0')) throw invalidField(key ?? 'query', 'must not contain NUL')
  return decoded
}
