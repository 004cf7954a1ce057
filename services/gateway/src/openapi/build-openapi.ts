import { z } from 'zod'
import { wantedText } from '../access/identify.ts'
import type { RouteEntry } from '../routes/route-entry.ts'
import { errorExamples, errorSchema, failures } from './error-responses.ts'
import { exampleOf } from './example-of.ts'
import { outgoingCalls } from './outgoing-calls.ts'
import { createSchemaWriter, type SchemaWriter, toJsonSchema } from './to-json-schema.ts'

const jsonContent = 'application/json'
const cursorDescription =
  '`next_cursor` of the page before, alone or with the same filters: it goes on in the list that it came from, environment included.'

/** OpenAPI 3.1 of every `/v1` route of the table, from the same zod schemas that validate. */
export function buildOpenApi(routes: readonly RouteEntry[], baseUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  const schemas = createSchemaWriter()
  for (const entry of routes) {
    if (entry.path.includes('*')) continue
    const methods = paths[entry.path] ?? {}
    methods[entry.method.toLowerCase()] = operation(entry, schemas)
    paths[entry.path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pitboss',
      version: '1',
      description: [
        'Provably fair games, settled against the operator’s own wallet.',
        'An operator’s server mints a token (`POST /v1/auth/token`), opens a session for a player (`POST /v1/sessions`) and hands its `launch_url` to the player’s browser.',
        'Stakes and wins settle by calls to the operator’s wallet, and every happening is an event: both are described under `webhooks`, with their signatures.',
        'Amounts are decimal strings. Every error says whether it is `retryable`; a movement is repeated under the same `transaction_id`.',
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...Object.keys(tagDescriptions), ...[...new Set(routes.map(tagOf))].toSorted()]
      .filter((name, at, names) => names.indexOf(name) === at)
      .map((name) => {
        const people = `For people: ${name.replace('dashboard: ', '').replaceAll('-', ' ')}.`
        return { name, description: tagDescriptions[name] ?? people }
      }),
    paths,
    webhooks: outgoingCalls(schemas),
    components: {
      securitySchemes: {
        'operator-api': bearer('Token of a key pair, from POST /v1/auth/token'),
        'game-launcher': bearer('Token of a session, from the fragment of its launch_url'),
        dashboard: bearer('Token of a person, from POST /v1/dashboard/login'),
      },
      schemas: { Error: errorSchema(), ...schemas.named() },
      examples: errorExamples(),
      headers: {
        RequestId: { description: 'Names this request', schema: { type: 'string' } },
        RetryAfter: {
          description: 'Seconds to wait',
          schema: { type: 'integer', minimum: 1, maximum: 86_400 },
        },
      },
    },
  }
}

function operation(entry: RouteEntry, schemas: SchemaWriter): Record<string, unknown> {
  const { shapes, access } = entry
  const roles = access?.dashboard === undefined ? '' : ` Roles: ${access.dashboard.join(', ')}.`
  return {
    operationId: operationId(entry),
    summary: entry.summary,
    tags: [tagOf(entry)],
    ...(access === null
      ? { security: [] }
      : {
          description: `Takes ${wantedText(access)}.${roles}`,
          security: Object.keys(access).map((name) => ({ [name]: [] })),
        }),
    parameters: [...pathParameters(entry), ...queryParameters(entry), ...headerParameters(entry)],
    ...(shapes.body === null ? {} : { requestBody: requestBody(entry, shapes.body, schemas) }),
    responses: { ...successes(entry, schemas), ...failures(entry) },
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

function requestBody(
  entry: RouteEntry,
  body: z.ZodType | 'bytes' | 'raw',
  schemas: SchemaWriter,
): Record<string, unknown> {
  if (typeof body === 'string') {
    const schema = schemas.write(entry.shapes.unreadBody, 'input')
    return { required: true, content: { [entry.bodyType]: { schema, example: entry.example } } }
  }
  const schema = schemas.write(body, 'input')
  const example = entry.example ?? exampleOf(toJsonSchema(body, 'input'))
  return {
    required: !body.safeParse({}).success || entry.method !== 'POST',
    content: { [jsonContent]: { schema, example } },
  }
}

function successes(entry: RouteEntry, schemas: SchemaWriter): Record<string, unknown> {
  const { shapes, alsoAnswers, path } = entry
  const isFirst = shapes.statuses.includes(201) || /\/rotate(-secret)?$/.test(path)
  const headers = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
  const content: Record<string, unknown> = {}
  if (shapes.reply !== null) {
    const example = exampleOf(toJsonSchema(shapes.reply, 'output'), '', isFirst)
    content[jsonContent] = { schema: schemas.write(shapes.reply, 'output'), example }
  }
  if (alsoAnswers !== null) content[alsoAnswers] = { schema: { type: 'string' } }
  const described = Object.keys(content).length === 0 ? { headers } : { headers, content }
  return Object.fromEntries(
    shapes.statuses.map((status) => [
      String(status),
      { description: successDescriptions[status] ?? 'Success', ...described },
    ]),
  )
}

const successDescriptions: Readonly<Record<number, string>> = {
  202: 'Taken; it goes on',
  204: 'Done',
  302: 'Elsewhere, by `location`',
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

/** In the order in which an operator meets them; what people use comes after. */
const tagDescriptions: Readonly<Record<string, string>> = {
  auth: 'Tokens for operator servers.',
  sessions: 'Sessions of players.',
  game: 'What the page of a game calls for its player.',
  rounds: 'Rounds as the operator sees them.',
  transactions: 'Movements of money.',
  wallet: 'What the service asks of the operator’s wallet.',
  events: 'The event log, by polling, and what is sent to webhook endpoints.',
  'webhook-deliveries': 'Deliveries of events to webhook endpoints.',
  games: 'The catalogue with the settings of the account.',
  'free-bets': 'Free bets that an operator grants.',
  players: 'Stops and limits of players.',
  reports: 'Revenue, and comparison with the own ledger.',
  business: 'Settings of the account.',
  public: 'What anyone may ask without a token.',
  service: 'Probes and pages.',
  dashboard: 'Signing in to the dashboard.',
}

function bearer(description: string): Record<string, string> {
  return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }
}
