import type { IncomingMessage } from 'node:http'
import { type ErrorDetail, ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { validateQuery } from '../input/list-cursor.ts'
import { parseJson } from '../input/parse-json.ts'
import { parseQuery } from '../input/parse-query.ts'
import { hasBody, readBody, requireJsonContent } from '../input/read-body.ts'
import { validatePart, validationError } from '../input/validate.ts'
import type { RouteEntry } from '../routes/route-entry.ts'

/** Source: docs/contract.md, section 8. */
export const bodyBytesMax = 64 * 1024

export type Input = { params: Record<string, string>; query: unknown; body: unknown }

const nothing = z.strictObject({})

/**
 * Reads and validates query, body and path of a request together: the details name every offending path of
 * query and body.
 * @throws ServiceError VALIDATION_ERROR, or the route's not-found code for an id that cannot be.
 */
export async function readInput({
  entry,
  raw,
  params,
  bodyTimeoutMs,
}: {
  entry: RouteEntry
  raw: IncomingMessage
  params: Readonly<Record<string, string>>
  bodyTimeoutMs: number
}): Promise<Input> {
  const { shapes } = entry
  const body = shapes.body === 'raw' ? undefined : await readJson(raw, bodyTimeoutMs)
  const details: ErrorDetail[] = []
  const keep = (part: ReturnType<typeof validatePart>): unknown => {
    if (part.ok) return part.value
    details.push(...part.details)
    return undefined
  }
  const query = entry.anyQuery ? {} : keep(validateQuery(shapes.query, parseQuery(raw.url ?? '/')))
  const parsedBody = shapes.body === 'raw' ? undefined : keep(validateBody(entry, body))
  if (details.length > 0) throw validationError(details)
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

async function readJson(raw: IncomingMessage, timeoutMs: number): Promise<unknown> {
  if (!hasBody(raw)) return undefined
  const bytes = await readBody(raw, { bytesMax: bodyBytesMax, timeoutMs })
  if (bytes.length === 0) return undefined
  requireJsonContent(raw)
  return parseJson(bytes)
}

/**
 * A route without a body takes none or `{}`. A POST whose body has no required field takes none too.
 */
function validateBody({ shapes, method }: RouteEntry, body: unknown): ReturnType<typeof validatePart> {
  if (shapes.body === null || shapes.body === 'raw') {
    const part = validatePart(nothing, body === undefined ? {} : body, 'body')
    return part.ok ? { ok: true, value: undefined } : part
  }
  if (body !== undefined) return validatePart(shapes.body, body, 'body')
  const withoutFields = method === 'POST' ? validatePart(shapes.body, {}, 'body') : null
  if (withoutFields?.ok === true) return withoutFields
  return { ok: false, details: [{ path: 'body', message: 'is required' }] }
}
