import { type ErrorDetail, ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { describeIssue, toDetails } from './to-details.ts'

type Part<Value> = { ok: true; value: Value } | { ok: false; details: ErrorDetail[] }

/** Parses one part of a request; `root` names it in details when the whole is wrong. Never throws. */
export function validatePart<Value>(schema: z.ZodType<Value>, input: unknown, root: string): Part<Value> {
  const parsed = schema.safeParse(input, { error: describeIssue })
  if (!parsed.success) return { ok: false, details: toDetails(parsed.error.issues, root) }
  const details = windowDetails(parsed.data)
  return details.length > 0 ? { ok: false, details } : { ok: true, value: parsed.data }
}

/** Makes a VALIDATION_ERROR whose message shows the first detail. */
export function validationError(details: readonly ErrorDetail[]): ServiceError {
  const first = details[0]
  if (first === undefined) return new ServiceError('VALIDATION_ERROR')
  return new ServiceError('VALIDATION_ERROR', { message: `${first.path}: ${first.message}`, details })
}

const windowSchema = z.object({ from: z.string(), to: z.string() })

/** Finds `from` after `to`, which offends at `from`. Source: docs/contract.md, section 1. */
function windowDetails(value: unknown): ErrorDetail[] {
  const window = windowSchema.safeParse(value)
  if (!window.success) return []
  const { from, to } = window.data
  return Date.parse(from) > Date.parse(to) ? [{ path: 'from', message: 'must not be after "to"' }] : []
}
