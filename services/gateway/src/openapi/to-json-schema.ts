import { z } from 'zod'
import type { JsonSchema } from './example-of.ts'

/** JSON Schema (draft 2020-12, as OpenAPI 3.1 takes it) of what a caller sends (`input`) or gets (`output`). */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
