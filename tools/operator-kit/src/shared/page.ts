import { z } from 'zod'

const LIMIT_MAX = 1000

/** `after` and `limit` of the control APIs' lists. */
export const pageQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(100),
  latest: z.enum(['true', 'false']).default('false'),
})

export type Page<T> = { data: T[]; next_after: number | null; total: number }

/**
 * A page of rows in order of `seq`, or newest first with `latest`; `total` counts what the filter lets
 * through.
 */
export function pageOf<T extends { seq: number }>(
  rows: readonly T[],
  query: z.infer<typeof pageQuery>,
): Page<T> {
  const { after, limit, latest } = query
  if (latest === 'true') return { data: rows.slice(-limit).reverse(), next_after: null, total: rows.length }
  const rest = rows.filter(({ seq }) => seq > after)
  const data = rest.slice(0, limit)
  return { data, next_after: rest.length > limit ? (data.at(-1)?.seq ?? null) : null, total: rows.length }
}
