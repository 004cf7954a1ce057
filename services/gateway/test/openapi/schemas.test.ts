import { eventType } from '@pitboss/contracts/objects/event'
import { games } from '@pitboss/fairness/games/registry'
import t from 'tap'
import { z } from 'zod'
import { buildOpenApi } from '../../src/openapi/build-openapi.ts'
import { routeTable } from '../../src/routes/route-table.ts'

/** What generators of clients, in any language, need of the schemas. */

const nodeSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  pattern: z.string().optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  description: z.string().optional(),
})
type Node = z.infer<typeof nodeSchema>
const withSchema = z.looseObject({ schema: z.unknown() })
const bodySchema = z.looseObject({ content: z.record(z.string(), withSchema) })
const operationSchema = z.looseObject({
  parameters: z.array(withSchema),
  requestBody: bodySchema.optional(),
  responses: z.record(z.string(), bodySchema.partial()),
})
const document = z
  .looseObject({
    paths: z.record(z.string(), z.record(z.string(), operationSchema)),
    webhooks: z.record(z.string(), z.record(z.string(), operationSchema)),
    components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
  })
  .parse(JSON.parse(JSON.stringify(buildOpenApi(routeTable, 'https://api.example.com'))))
const named = document.components.schemas
const operations = Object.entries({ ...document.paths, ...document.webhooks }).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
)

/** A schema and every schema in it. References are followed when `follow` is set. */
function nodesOf(schema: unknown, at: string, follow = false): { at: string; node: Node }[] {
  const node = nodeSchema.parse(schema)
  const inner: [string, unknown][] = [
    ...Object.entries(node.properties ?? {}).map(([name, one]): [string, unknown] => [`.${name}`, one]),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])].map(
      (one, index): [string, unknown] => [`|${index}`, one],
    ),
    ...(node.items === undefined ? [] : [['[]', node.items] as [string, unknown]]),
    ...(follow && node.$ref !== undefined ? [['', referred(node.$ref)] as [string, unknown]] : []),
  ]
  return [{ at, node }, ...inner.flatMap(([step, one]) => nodesOf(one, at + step, follow))]
}

function referred(ref: string): unknown {
  return named[ref.split('/').at(-1) ?? '']
}

const everyNode = [
  ...Object.entries(named).flatMap(([name, schema]) => nodesOf(schema, name)),
  ...operations.flatMap(({ name, operation }) => [
    ...operation.parameters.flatMap(({ schema }) => nodesOf(schema, `${name} parameter`)),
    ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
      nodesOf(schema, `${name} body`),
    ),
    ...Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).flatMap(({ schema }) => nodesOf(schema, `${name} ${status}`)),
    ),
  ]),
]

await t.test('every schema says its type, and every object its properties or that it takes any', (t) => {
  const says = ['type', '$ref', 'anyOf', 'oneOf', 'const', 'enum']
  const silent = everyNode.filter(({ node }) => !says.some((key) => key in node))
  t.same(
    silent.map(({ at }) => at),
    [],
  )
  const bare = everyNode.filter(
    ({ node }) => node.type === 'object' && !('properties' in node) && !('additionalProperties' in node),
  )
  t.same(
    bare.map(({ at }) => at),
    [],
  )
  t.end()
})

await t.test('patterns hold nothing that other languages lack', (t) => {
  const patterns = everyNode.flatMap(({ at, node }) => (node.pattern === undefined ? [] : [{ at, ...node }]))
  t.ok(patterns.length > 100)
  const foreign = patterns.filter(({ pattern = '' }) => /\(\?[^:]|\\[1-9pPkuB]/.test(pattern))
  t.same(
    foreign.map(({ at, pattern }) => `${at}: ${pattern}`),
    [],
  )
  t.end()
})

await t.test('no property of a request has a default but in words, and every one that has is said', (t) => {
  const bodies = operations.flatMap(({ name, operation }) =>
    Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => nodesOf(schema, name, true)),
  )
  t.same(
    bodies.filter(({ node }) => 'default' in node).map(({ at }) => at),
    [],
  )
  for (const { method, path, shapes } of routeTable) {
    if (shapes.body === null || typeof shapes.body === 'string') continue
    const described = z.toJSONSchema(shapes.body, { io: 'input', unrepresentable: 'any' })
    const name = `${method.toLowerCase()} ${path}`
    for (const { at, node } of nodesOf(described, name)) {
      if (!('default' in node)) continue
      const words = `By default ${JSON.stringify(node.default)}.`
      t.ok(
        bodies.some((one) => one.at === at && one.node.description?.includes(words)),
        `${at}: ${words}`,
      )
    }
  }
  t.end()
})

await t.test('each event has the data of its type, each bet and outcome the fields of its game', (t) => {
  for (const type of eventType.options) {
    const { content } = document.webhooks[type]?.post?.requestBody ?? { content: {} }
    const event = nodeSchema.parse(referred(nodeSchema.parse(content['application/json']?.schema).$ref ?? ''))
    t.match(event.properties?.type, { enum: [type] })
    t.ok(Object.keys(nodeSchema.parse(event.properties?.data).properties ?? {}).length > 3, type)
  }
  const variants = (name: string) =>
    (nodeSchema.parse(named[name]).anyOf ?? []).map((one) => nodeSchema.parse(one).$ref?.split('/').at(-1))
  const pascal = (slug: string) =>
    slug.replaceAll(/(^|-)([a-z])/g, (_match, _mark, letter: string) => letter.toUpperCase())
  const slugs = games.map(({ slug }) => pascal(slug))
  t.same(
    variants('Bet'),
    slugs.map((slug) => `${slug}Bet`),
  )
  t.same(variants('Outcome'), [...slugs.map((slug) => `${slug}Outcome`), 'OperatorOutcome'])
  for (const name of [...slugs.flatMap((slug) => [`${slug}Bet`, `${slug}Outcome`])])
    t.ok(Object.keys(nodeSchema.parse(named[name]).properties ?? {}).length > 0, name)
  const users = everyNode.filter(({ at }) => /\.(bet|outcome)$/.test(at))
  const opaque = users.filter(({ node }) => node.type === 'object' && node.properties === undefined)
  t.same(
    opaque.map(({ at }) => at),
    ['TransactionBody|1.outcome'],
    'of a round that the operator drives',
  )
  t.end()
})
