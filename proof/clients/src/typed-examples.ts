import { z } from 'zod'

const contentSchema = z.record(
  z.string(),
  z.looseObject({ schema: z.unknown(), example: z.unknown().optional() }),
)
const operationSchema = z.looseObject({
  operationId: z.string(),
  requestBody: z.looseObject({ content: contentSchema }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: contentSchema.optional() })),
})
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  webhooks: z.record(z.string(), z.looseObject({ post: operationSchema })),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})
const nodeSchema = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
})

/**
 * A program that gives every example of the description the type that it has in the generated clients: what a
 * request may hold, the least that it must hold, and what is answered.
 */
export function typedExamples(description: unknown): string {
  const { paths, webhooks, components } = documentSchema.parse(description)
  const least = leastOf(components.schemas)
  const lines: string[] = []
  const add = (type: string, value: unknown) =>
    lines.push(`export const example${lines.length}: ${type} = ${JSON.stringify(value)}`)

  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, requestBody, responses }] of Object.entries(methods)) {
      const route = `paths['${path}']['${method}']`
      const name = pascal(operationId)
      const json = requestBody?.content['application/json']
      if (json !== undefined) {
        for (const value of [json.example, least(json.schema, json.example)]) {
          add(`NonNullable<${route}['requestBody']>['content']['application/json']`, value)
          add(`NonNullable<hey.${name}Data['body']>`, value)
        }
      }
      for (const [status, { content }] of Object.entries(responses)) {
        const answer = content?.['application/json']?.example
        if (answer === undefined) continue
        add(`${route}['responses'][${status}]['content']['application/json']`, answer)
        add(`hey.${name}Responses[${status}]`, answer)
        if (path.startsWith('/v1/'))
          add(`Swagger<'${name.replace(/^./, (one) => one.toLowerCase())}'>`, answer)
      }
    }
  }
  for (const [name, { post }] of Object.entries(webhooks)) {
    const sent = post.requestBody?.content['application/json']?.example
    add(`webhooks['${name}']['post']['requestBody']['content']['application/json']`, sent)
  }
  return `${head}\n${lines.join('\n')}\n`
}

const head = `import type { paths, webhooks } from '../generated/openapi-typescript/schema.js'
import type * as hey from '../generated/hey-api/index.js'
import type { Api } from '../generated/swagger-typescript-api/Api.js'
type Calls = Api<unknown>['v1']
type Swagger<Name extends keyof Calls> = Awaited<ReturnType<Calls[Name]>>['data']`

/** What is left of a value without the fields that its schema does not ask for. */
function leastOf(named: Readonly<Record<string, unknown>>) {
  const prune = (schema: unknown, value: unknown): unknown => {
    const { $ref, anyOf, oneOf, properties, required = [], items } = nodeSchema.parse(schema)
    if ($ref !== undefined) return prune(named[$ref.split('/').at(-1) ?? ''], value)
    const variants = anyOf ?? oneOf
    if (variants !== undefined) return prune(variants.find((variant) => fits(variant, value)) ?? {}, value)
    if (Array.isArray(value)) return value.map((one) => prune(items ?? {}, one))
    if (typeof value !== 'object' || value === null || properties === undefined) return value
    const kept = Object.entries(value).filter(([name]) => required.includes(name))
    return Object.fromEntries(kept.map(([name, inner]) => [name, prune(properties[name], inner)]))
  }
  /** Whether the fields with fixed values, such as `type`, are those of the variant. */
  const fits = (variant: unknown, value: unknown): boolean => {
    const { properties = {} } = nodeSchema.parse(variant)
    const given = new Map(Object.entries(typeof value === 'object' && value !== null ? value : {}))
    return Object.entries(properties).every(([name, schema]) => {
      const { const: one, enum: several = one === undefined ? undefined : [one] } = nodeSchema.parse(schema)
      return several === undefined || !given.has(name) || several.includes(given.get(name))
    })
  }
  return prune
}

/** `GetRoundsRoundId` for `get_rounds__round_id_`. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)_*([a-z]?)/g, (_match, letter: string) => letter.toUpperCase())
}
