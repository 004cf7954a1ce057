import { errorCatalogue, type ErrorCode, isErrorCode } from '@pitboss/errors/catalogue'
import type { RouteEntry } from '../routes/route-entry.ts'
import type { JsonSchema } from './example-of.ts'

const errorCodes = Object.keys(errorCatalogue).filter(isErrorCode)

/** The error responses of a route, by status. */
export function failures(entry: RouteEntry): Record<string, unknown> {
  const byStatus = Map.groupBy(errorsOf(entry), (code) => errorCatalogue[code].status)
  return Object.fromEntries(
    [...byStatus].toSorted(([a], [b]) => a - b).map(([status, codes]) => [String(status), failure(codes)]),
  )
}

/** Every error that a route can answer with, each once. */
function errorsOf(entry: RouteEntry): ErrorCode[] {
  const codes: ErrorCode[] = ['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']
  if (entry.access !== null) {
    codes.push(
      'UNAUTHORIZED',
      'INVALID_CREDENTIALS',
      'TOKEN_EXPIRED',
      'INSUFFICIENT_SCOPE',
      'OPERATOR_SUSPENDED',
    )
    if (entry.access['operator-api'] !== undefined) codes.push('IP_NOT_ALLOWED')
    if (entry.access.dashboard !== undefined) codes.push('FORBIDDEN')
  }
  if (entry.limit !== 'exempt') codes.push('RATE_LIMITED')
  if (entry.path.includes('{')) codes.push(entry.notFound)
  return [...new Set([...codes, ...entry.errors])]
}

function failure(codes: readonly ErrorCode[]): Record<string, unknown> {
  const waits = codes.some((code) => code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE')
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(waits ? { 'retry-after': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

/** Every error as an example of OpenAPI, by its code. */
export function errorExamples(): Record<string, unknown> {
  return Object.fromEntries(
    errorCodes.map((code) => {
      const { message, remedy, retryable } = errorCatalogue[code]
      const details = [{ path: 'stake', message: 'must be a decimal string such as "10.00"' }]
      const value = { code, message, retryable, request_id: 'req_01jd3v8x5q7r2m4n6p8s0t1w3y' }
      const shown = code === 'VALIDATION_ERROR' ? { ...value, details } : value
      return [code, { summary: message, description: remedy, value: shown }]
    }),
  )
}

/** The envelope of every error. */
export function errorSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['code', 'message', 'retryable', 'request_id'],
    properties: {
      code: { type: 'string', enum: errorCodes },
      message: { type: 'string' },
      retryable: { type: 'boolean' },
      request_id: { type: 'string' },
      details: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: { path: { type: 'string' }, message: { type: 'string' } },
        },
      },
      resource: {
        type: 'object',
        required: ['transaction_id'],
        properties: { round_id: { type: 'string' }, transaction_id: { type: 'string' } },
      },
    },
  }
}
