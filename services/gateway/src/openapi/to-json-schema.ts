import { z } from 'zod'
import { componentNames } from './components.ts'
import type { JsonSchema } from './example-of.ts'

/**
 * JSON Schema (draft 2020-12, as in OpenAPI 3.1) of the value that a caller sends (`input`) or gets
 * (`output`).
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

export type SchemaWriter = {
  /**
   * The same as `toJsonSchema`, but named shapes are references. @throws Error for a name with two shapes.
   */
  write(schema: z.ZodType, io: 'input' | 'output'): JsonSchema
  /** Every named shape that was written so far, by its name. */
  named(): Readonly<Record<string, JsonSchema>>
}

/** Writes the schemas of one OpenAPI document. */
export function createSchemaWriter(): SchemaWriter {
  const named = new Map<string, string>()
  return {
    write(schema, io) {
      const options = { io, unrepresentable: 'any', metadata: componentNames } as const
      const { $schema: _dialect, $defs = {}, ...rest } = toReferences(z.toJSONSchema(schema, options))
      for (const [name, definition] of Object.entries(definitions.parse($defs))) {
        const text = JSON.stringify(definition)
        if ((named.get(name) ?? text) !== text) throw new Error(`${name} names two shapes`)
        named.set(name, text)
      }
      return rest
    },
    named: () =>
      Object.fromEntries(
        [...named]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, text]) => [name, object.parse(JSON.parse(text))]),
      ),
  }
}

const object = z.record(z.string(), z.unknown())
const definitions = z.record(z.string(), object)

function toReferences(schema: unknown): Record<string, unknown> {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  return object.parse(JSON.parse(text))
}
