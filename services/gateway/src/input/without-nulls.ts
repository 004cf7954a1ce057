import { z } from 'zod'

/**
 * A body without the fields that are `null` where they may be left out, at every depth: many clients write
 * them so. Source: docs/contract.md, section 1.
 * @param options.clears whether `null` says something of its own, as in a PATCH: it stays where the schema
 * takes it
 */
export function withoutNulls(schema: z.ZodType, value: unknown, options: { clears: boolean }): unknown {
  const bare = unwrap(schema)
  if (Array.isArray(value)) {
    if (!(bare instanceof z.ZodArray)) return value
    return value.map((item) => withoutNulls(zodType(bare.element), item, options))
  }
  if (typeof value !== 'object' || value === null) return value
  if (bare instanceof z.ZodDiscriminatedUnion) {
    const kind = kindOf(bare, { ...value })
    return kind === undefined ? value : withoutNulls(kind, value, options)
  }
  if (!(bare instanceof z.ZodObject)) return value
  const shape: Readonly<Record<string, z.core.$ZodType>> = bare.shape
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const wanted = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (wanted === undefined) return [[name, field]]
      if (field !== null) return [[name, withoutNulls(zodType(wanted), field, options)]]
      const mayBeLeftOut = zodType(wanted).safeParse(undefined).success
      const stays = !mayBeLeftOut || (options.clears && zodType(wanted).safeParse(null).success)
      return stays ? [[name, field]] : []
    }),
  )
}

/** The kind of body that a value names; undefined when there is none of that name. */
function kindOf(
  union: z.ZodDiscriminatedUnion,
  value: Readonly<Record<string, unknown>>,
): z.ZodType | undefined {
  const { discriminator } = union.def
  return union.options.map(zodType).find((option) => {
    const kind = unwrap(option)
    return (
      kind instanceof z.ZodObject &&
      zodType(kind.shape[discriminator]).safeParse(value[discriminator]).success
    )
  })
}

/** The schema that the wrappers around it are about. */
function unwrap(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return unwrap(zodType(schema.def.innerType))
  return schema instanceof z.ZodPipe ? unwrap(zodType(schema.def.in)) : schema
}

function zodType(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema
  throw new Error('a shape of the contract is no schema')
}
