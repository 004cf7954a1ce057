import { errorCatalogue, type ErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import { wantedText } from '../access/access-rule.ts'
import type { RouteEntry } from '../routes/route-entry.ts'
import { errorsOf } from './errors-of.ts'
import { exampleOf, type JsonSchema } from './example-of.ts'
import { requestExample } from './request-examples.ts'
import { toJsonSchema } from './to-json-schema.ts'

const jsonContent = 'application/json'
const cursorDescription =
  '`next_cursor` of the page before, alone or with the same filters: it goes on in the list that it came from, environment included.'

/** OpenAPI 3.1 of every `/v1` route of the table, from the same zod schemas that validate. */
export function buildOpenApi(routes: readonly RouteEntry[], baseUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const entry of routes) {
    if (entry.path.includes('*')) continue
    const methods = paths[entry.path] ?? {}
    methods[entry.method.toLowerCase()] = operation(entry)
    paths[entry.path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pitboss',
      version: '1',
      description: 'Provably fair games, settled against the operator’s own wallet.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map(tagOf))].toSorted().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        'operator-api': bearer('Token of a key pair, from POST /v1/auth/token'),
        'game-launcher': bearer('Token of a session, from the fragment of its launch_url'),
        dashboard: bearer('Token of a person, from POST /v1/dashboard/login'),
      },
      schemas: { Error: errorSchema() },
      headers: {
        RequestId: { description: 'Names this request', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } },
      },
    },
  }
}

function operation(entry: RouteEntry): Record<string, unknown> {
  const { shapes, access } = entry
  return {
    operationId: operationId(entry),
    summary: entry.summary,
    tags: [tagOf(entry)],
    ...(access === null
      ? { security: [] }
      : {
          description: `Takes ${wantedText(access)}.${rolesText(entry)}`,
          security: Object.keys(access).map((name) => ({ [name]: [] })),
        }),
    parameters: [...pathParameters(entry), ...queryParameters(entry), ...headerParameters(entry)],
    ...(shapes.body === null ? {} : { requestBody: requestBody(entry) }),
    responses: { ...successes(entry), ...failures(entry) },
  }
}

function pathParameters({ path }: RouteEntry): unknown[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'environment' ? { type: 'string', enum: ['TEST', 'LIVE'] } : { type: 'string' },
    example: name === 'environment' ? 'TEST' : exampleOf({ type: 'string' }, name),
  }))
}

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  required: z.array(z.string()).optional(),
})

function queryParameters({ shapes }: RouteEntry): unknown[] {
  const { properties = {}, required = [] } = objectSchema.parse(toJsonSchema(shapes.query, 'input'))
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(name === 'cursor' ? { description: cursorDescription } : {}),
    schema: name === 'limit' ? { type: 'integer', minimum: 1, maximum: 200, default: 50 } : schema,
  }))
}

function headerParameters({ idempotent }: RouteEntry): unknown[] {
  if (!idempotent) return []
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Honoured for 24 hours: same key and body, the first answer again.',
      schema: { type: 'string', minLength: 1, maxLength: 128 },
    },
  ]
}

function requestBody(entry: RouteEntry): Record<string, unknown> {
  const { body } = entry.shapes
  if (body === null) return {}
  if (body === 'raw') {
    const type =
      entry.action.kind === 'own' && entry.action.name === 'reconcile' ? 'application/x-ndjson' : jsonContent
    return { required: true, content: { [type]: { schema: {}, example: requestExample(entry) } } }
  }
  const schema = toJsonSchema(body, 'input')
  const example = requestExample(entry) ?? exampleOf(schema)
  return {
    required: !body.safeParse({}).success || entry.method !== 'POST',
    content: { [jsonContent]: { schema, example } },
  }
}

function successes(entry: RouteEntry): Record<string, unknown> {
  const { reply, statuses } = entry.shapes
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: status === 204 ? 'Done' : 'Success', ...successContent(entry, reply) },
    ]),
  )
}

function successContent({ action }: RouteEntry, reply: z.ZodType | null): Record<string, unknown> {
  const headers = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
  if (reply === null) return { headers }
  const schema = withAdded(toJsonSchema(reply, 'output'), action)
  const content: Record<string, unknown> = { [jsonContent]: { schema, example: exampleOf(schema) } }
  if (action.kind === 'forward' && action.then === 'report-format') {
    content['text/csv'] = { schema: { type: 'string' } }
  }
  return { headers, content }
}

/** What the gateway adds to a service's record. */
function withAdded(schema: JsonSchema, action: RouteEntry['action']): JsonSchema {
  if (action.kind !== 'forward') return schema
  const field = { 'launch-url': 'launch_url', 'sign-manifest': 'signature' } as const
  if (action.then !== 'launch-url' && action.then !== 'sign-manifest') return schema
  const { properties = {}, required = [] } = objectSchema.parse(schema)
  const name = field[action.then]
  const example =
    action.then === 'launch-url' ? 'https://play.example.com/play/dice#token=eyJhbGciOi…' : 'eyJhbGciOi…'
  return {
    ...schema,
    properties: { ...properties, [name]: { type: 'string', example } },
    required: [...required, name],
  }
}

function failures(entry: RouteEntry): Record<string, unknown> {
  const byStatus = Map.groupBy(errorsOf(entry), (code) => errorCatalogue[code].status)
  return Object.fromEntries(
    [...byStatus].toSorted(([a], [b]) => a - b).map(([status, codes]) => [String(status), failure(codes)]),
  )
}

function failure(codes: readonly ErrorCode[]): Record<string, unknown> {
  const waits = codes.some((code) => code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE')
  return {
    description: codes.map(explained).join(' '),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(waits ? { 'retry-after': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: {
      [jsonContent]: {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
      },
    },
  }
}

function explained(code: ErrorCode): string {
  const { message, remedy } = errorCatalogue[code]
  return `\`${code}\`: ${message} ${remedy}`
}

function errorExample(code: ErrorCode): Record<string, unknown> {
  const { message, retryable } = errorCatalogue[code]
  const details = [{ path: 'stake', message: 'must be a decimal string such as "10.00"' }]
  return {
    code,
    message,
    retryable,
    request_id: 'req_01jd3v8x5q7r2m4n6p8s0t1w3y',
    ...(code === 'VALIDATION_ERROR' ? { details } : {}),
  }
}

function errorSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['code', 'message', 'retryable', 'request_id'],
    properties: {
      code: { type: 'string', enum: Object.keys(errorCatalogue) },
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

function operationId({ method, path }: RouteEntry): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'v1')
  return [method.toLowerCase(), ...words.map((word) => word.replaceAll(/[^A-Za-z0-9]+/g, '_'))].join('_')
}

function tagOf({ path }: RouteEntry): string {
  const [, first = '', second = '', third = ''] = path.split('/')
  if (first !== 'v1') return 'service'
  return second === 'dashboard' && third !== '' ? `dashboard: ${third}` : second
}

function rolesText({ access }: RouteEntry): string {
  const roles = access?.dashboard
  return roles === undefined ? '' : ` Roles: ${roles.join(', ')}.`
}

function bearer(description: string): Record<string, string> {
  return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }
}
