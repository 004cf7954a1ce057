import { Ajv2020 } from 'ajv/dist/2020.js'
import { eventType } from '@pitboss/contracts/objects/event'
import { verifyRound } from '@pitboss/fairness/verify-round'
import t from 'tap'
import { z } from 'zod'
import { buildOpenApi } from '../../src/openapi/build-openapi.ts'
import { noUsualText } from '../../src/openapi/example-of.ts'
import { routeTable } from '../../src/routes/route-table.ts'

const content = z.record(
  z.string(),
  z.object({
    schema: z.record(z.string(), z.unknown()),
    example: z.unknown().optional(),
    examples: z.record(z.string(), z.object({ $ref: z.string() })).optional(),
  }),
)
const operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(
    z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), required: z.boolean() }),
  ),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
})
const outgoing = operation.omit({ security: true })
const document = z.object({
  openapi: z.literal('3.1.0'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.object({ post: outgoing })),
  components: z.object({
    schemas: z.looseObject({ Error: z.record(z.string(), z.unknown()) }),
    examples: z.record(z.string(), z.object({ value: z.unknown() })),
    securitySchemes: z.record(z.string(), z.unknown()),
  }),
})
const json = 'application/json'
const text = JSON.stringify(buildOpenApi(routeTable, 'https://api.example.com'))
const built = document.parse(JSON.parse(text))
const operations = Object.entries(built.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => ({ name: `${method.toUpperCase()} ${path}`, one })),
)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ components: built.components }, 'api')
/** A schema whose references lead into the document. */
const toExternal = z
  .record(z.string(), z.unknown())
  .transform((schema): object => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')))

await t.test('every route of the table is described, once', (t) => {
  const described = operations.map(({ name }) => name)
  const routes = routeTable
    .filter(({ path }) => !path.includes('*'))
    .map(({ method, path }) => `${method} ${path}`)
  t.same(described.toSorted(), routes.toSorted())
  const operationIds = operations.map(({ one }) => one.operationId)
  t.equal(new Set(operationIds).size, operationIds.length)
  t.end()
})

await t.test('each names its tokens, parameters and errors', (t) => {
  for (const { name, one } of operations) {
    const entry = routeTable.find(({ method, path }) => `${method} ${path}` === name)
    const schemes = one.security.flatMap((scheme) => Object.keys(scheme))
    t.same(schemes.toSorted(), Object.keys(entry?.access ?? {}).toSorted(), name)
    for (const scheme of schemes) t.ok(scheme in built.components.securitySchemes)
    const inPath = one.parameters
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => `{${parameter.name}}`)
    t.same(inPath, name.match(/\{[a-z_]+\}/g) ?? [])
    t.ok(one.responses['422'] && one.responses['500'] && one.responses['503'], `${name} names its errors`)
    if (schemes.length > 0) t.ok(one.responses['401'] && one.responses['403'])
    for (const status of entry?.shapes.statuses ?? [])
      t.ok(one.responses[String(status)], `${name} ${status}`)
  }
  t.end()
})

await t.test('a wallet that may not move yet, and one that a second person has to move', (t) => {
  const { responses = {} } = built.paths['/v1/dashboard/wallets/{environment}']?.put ?? {}
  t.same(responses['409']?.description, '`APPROVAL_NEEDED`, `CONFLICT`')
  t.end()
})

await t.test('the root leads elsewhere or is not found', (t) => {
  const { responses = {} } = built.paths['/']?.get ?? {}
  t.ok(responses['302'] && responses['404'] && !responses['200'])
  t.end()
})

await t.test('every example fits its schema', (t) => {
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  const compile = (schema: unknown) => {
    const text = JSON.stringify(toExternal.parse(schema))
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, known)
    return known
  }
  const sent = Object.entries(built.webhooks).map(([name, { post }]) => ({ name, one: post }))
  for (const { name, one } of [...operations, ...sent]) {
    const contents = [
      one.requestBody?.content,
      ...Object.values(one.responses).map((response) => response.content),
    ]
    for (const [type, part] of contents.flatMap((known) => Object.entries(known ?? {}))) {
      if (type !== 'application/json') continue
      const validate = compile(part.schema)
      const examples =
        part.examples === undefined
          ? [part.example]
          : Object.values(part.examples).map(
              ({ $ref }) => built.components.examples[$ref.split('/')[3] ?? '']?.value,
            )
      for (const example of examples) {
        t.ok(
          validate(example),
          `${name}: ${JSON.stringify(example)?.slice(0, 400)} ${JSON.stringify(validate.errors)}`,
        )
      }
    }
  }
  t.end()
})

await t.test('examples of bodies are taken by the routes themselves', (t) => {
  for (const { method, path, shapes } of routeTable) {
    if (shapes.body === null || typeof shapes.body === 'string') continue
    const one = built.paths[path]?.[method.toLowerCase()]
    const example = one?.requestBody?.content['application/json']?.example
    const parsed = shapes.body.safeParse(example)
    t.ok(parsed.success, `${method} ${path}: ${JSON.stringify(example)} ${parsed.error}`)
  }
  t.end()
})

await t.test('the free bets of examples can still be played', (t) => {
  const { requestBody, responses = {} } = built.paths['/v1/free-bets']?.post ?? {}
  const asked = requestBody?.content[json]?.example
  t.notOk(z.object({ expires_at: z.string() }).safeParse(asked).success, 'one that is over would be refused')
  const times = z.object({ created_at: z.string(), expires_at: z.string() })
  const granted = times.parse(responses['201']?.content?.[json]?.example)
  t.ok(granted.expires_at > granted.created_at)
  t.end()
})

await t.test('the events and the calls to the wallet are described, each with its payload', (t) => {
  const examples = Object.entries(built.webhooks).map(([name, { post }]) => {
    const { example } = post.requestBody?.content['application/json'] ?? {}
    return [name, z.record(z.string(), z.unknown()).parse(example)] as const
  })
  const types = [...eventType.options, 'webhook.test']
  t.same(
    examples.map(([name]) => name),
    [...types, 'wallet.balance', 'wallet.debit', 'wallet.credit', 'wallet.rollback'],
  )
  for (const [name, example] of examples) if (types.includes(name)) t.equal(example.type, name)
  for (const [name, { post }] of Object.entries(built.webhooks)) {
    const headers = post.parameters.map((parameter) => parameter.name)
    t.ok(headers.includes(name.startsWith('wallet.') ? 'x-signature' : 'x-svc-signature'), name)
  }
  t.end()
})

await t.test('the round of the examples comes of its seeds', (t) => {
  const { example } = built.paths['/v1/rounds/{round_id}']?.get?.responses['200']?.content?.[json] ?? {}
  t.match(verifyRound(example), { valid: true })
  t.end()
})

await t.test('no example has a text that stands for none, nor a number at the end of all numbers', (t) => {
  const strange = valuesAt(JSON.parse(text), 'example').flatMap(({ at, value }) =>
    leavesOf(value).some((leaf) => leaf === noUsualText || Math.abs(Number(leaf)) > 1e12) ? [at] : [],
  )
  t.same(strange, [])
  t.end()
})

await t.test('every number has bounds', (t) => {
  const numbers = valuesAt(JSON.parse(text), 'type').filter(({ value }) =>
    [value].flat().some((type) => type === 'integer' || type === 'number'),
  )
  t.ok(numbers.length > 100)
  const unbounded = numbers.filter(
    ({ parent: { minimum, maximum, enum: values, const: one } }) =>
      !(Number(minimum) > -1e15 && Number.isFinite(maximum)) && values === undefined && one === undefined,
  )
  t.same(
    unbounded.map(({ at }) => at),
    [],
  )
  t.end()
})

await t.test('a time is a date-time, and no field of a body has a default', (t) => {
  const bodies = operations.flatMap(({ name, one }) => {
    const { schema } = one.requestBody?.content[json] ?? {}
    const text = JSON.stringify(schema ?? {})
    const named = [...text.matchAll(/schemas\/(\w+)"/g)].map(([, id = '']) => built.components.schemas[id])
    return [{ name, schema: [schema, ...named] }]
  })
  for (const { name, schema } of bodies) {
    const values = (key: string) => valuesAt(schema, key)
    t.strictSame(
      values('default').map(({ at }) => at),
      [],
      name,
    )
    for (const field of ['from', 'to', 'until', 'expires_at'])
      for (const { value, at } of values(field)) t.match(value, { format: 'date-time' }, `${name} ${at}`)
  }
  const times = ['POST /v1/free-bets', 'POST /v1/dashboard/webhooks/{webhook_id}/replay']
  t.strictSame(
    bodies.filter(({ name, schema }) => times.includes(name) && valuesAt(schema, 'format').length > 0).length,
    times.length,
  )
  t.end()
})

type Met = {
  readonly at: string
  readonly value: unknown
  readonly parent: Readonly<Record<string, unknown>>
}

/** Every value below a key of this name. */
function valuesAt(node: unknown, key: string, at = ''): Met[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [{ at: `${at}/${name}`, value, parent: { ...node } }] : []),
    ...valuesAt(value, key, `${at}/${name}`),
  ])
}

function leavesOf(node: unknown): unknown[] {
  return typeof node === 'object' && node !== null ? Object.values(node).flatMap(leavesOf) : [node]
}
