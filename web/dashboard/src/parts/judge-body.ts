import { describeIssue } from '@pitboss/contracts/describe-issue'
import type * as z from 'zod'

/** What is wrong with the fields of a form, in words, by the name of the field. */
export type Faults = Readonly<Record<string, string>>

/** Judges the body of a request before it is sent, in the words in which the service would. */
export function judgeBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): { readonly body: z.output<Schema> } | { readonly faults: Faults } {
  const parsed = schema.safeParse(body, { error: describeIssue, reportInput: true })
  if (parsed.success) return { body: parsed.data }
  return {
    faults: faultsOf(
      parsed.error.issues.map(({ path, message }) => ({ path: String(path[0] ?? ''), message })),
    ),
  }
}

/** The first fault of each field; an element of a list is its list's. */
export function faultsOf(details: readonly { readonly path: string; readonly message: string }[]): Faults {
  const named: Record<string, string> = {}
  for (const { path, message } of details) named[path.split(/[.[]/)[0] ?? path] ??= message
  return named
}
