import { z } from 'zod'
import { describeIssue, oneOf, required } from './describe-issue.ts'

/** A field that offends, dotted, and its fault in words. */
type Detail = { readonly path: string; readonly message: string }

const detailsMax = 50
const pathCharactersMax = 256

type Part<Value> = { ok: true; value: Value } | { ok: false; details: Detail[] }

/** Parses one part of a request; `root` names it in details when the whole is wrong. Never throws. */
export function validatePart<Value>(schema: z.ZodType<Value>, input: unknown, root: string): Part<Value> {
  const parsed = schema.safeParse(input, { error: describeIssue, reportInput: true })
  if (!parsed.success) return { ok: false, details: toDetails(parsed.error.issues, root) }
  const details = windowDetails(parsed.data)
  return details.length > 0 ? { ok: false, details } : { ok: true, value: parsed.data }
}

const windowSchema = z.object({ from: z.string(), to: z.string() })

/** Finds `from` after `to`, which offends at `from`. Source: docs/contract.md, section 1. */
function windowDetails(value: unknown): Detail[] {
  const window = windowSchema.safeParse(value)
  if (!window.success) return []
  const { from, to } = window.data
  return Date.parse(from) > Date.parse(to) ? [{ path: 'from', message: 'must not be after "to"' }] : []
}

/**
 * The public details of zod's findings: one for each offending path, dotted. An unknown key offends at its
 * own path. `root` names the value as a whole (`body`, `query`). Bounded.
 */
export function toDetails(issues: readonly z.core.$ZodIssue[], root: string): Detail[] {
  const details = issues.flatMap((issue) => detailsOf(issue, []))
  const distinct = new Map<string, Detail>()
  for (const { path, message } of details) {
    const shown = path === '' ? root : path.slice(0, pathCharactersMax)
    if (!distinct.has(shown)) distinct.set(shown, { path: shown, message })
  }
  return [...distinct.values()].slice(0, detailsMax)
}

function detailsOf(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): Detail[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const [first = '', ...others] = issue.message.split('\n')
    const messageAt = (at: number) => others[at - 1] ?? first
    return issue.keys.map((key, at) => ({ path: dotted([...path, key]), message: messageAt(at) }))
  }
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.at(-1)
    if (branch !== undefined && branch.length > 0) return branch.flatMap((inner) => detailsOf(inner, path))
    if (branch === undefined && 'options' in issue && issue.options !== undefined) {
      return [{ path: dotted(path), message: oneOf(issue.options) }]
    }
  }
  return [{ path: dotted(path), message: messageOf(issue) }]
}

/** A schema's own message says what a value must be, which is no answer alone to a value that is missing. */
function messageOf({ code, input, message }: z.core.$ZodIssue): string {
  const missing = code !== 'custom' && input === undefined && message !== required
  return missing ? `${required}, and ${message}` : message
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}
