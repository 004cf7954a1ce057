import type { ErrorDetail } from '@pitboss/errors/service-error'
import type { z } from 'zod'

const detailsMax = 50
const pathCharactersMax = 256

/**
 * The public details of zod's findings: one for each offending path, dotted. An unknown key offends at its
 * own path. `root` names the value as a whole (`body`, `query`). Bounded.
 */
export function toDetails(issues: readonly z.core.$ZodIssue[], root: string): ErrorDetail[] {
  const details = issues.flatMap((issue) => detailsOf(issue, []))
  const seen = new Set<string>()
  return details
    .map(({ path, message }) => ({ path: path === '' ? root : path.slice(0, pathCharactersMax), message }))
    .filter(({ path, message }) => {
      const key = `${path}\n${message}`
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
    .slice(0, detailsMax)
}

/** The message where a schema has none of its own. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required'
  return undefined
}

function detailsOf(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): ErrorDetail[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: dotted([...path, key]), message: 'is not a known field' }))
  }
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.at(-1)
    if (branch !== undefined && branch.length > 0) return branch.flatMap((inner) => detailsOf(inner, path))
    if (issue.discriminator !== undefined) return [{ path: dotted(path), message: 'is not a known value' }]
  }
  return [{ path: dotted(path), message: issue.message }]
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}
