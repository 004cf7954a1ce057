import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type * as z from 'zod'
import type { QueryValues } from '../api/create-api.ts'
import { useDashboard } from '../session/dashboard-context.ts'

type Options = {
  /** False: nothing is asked. */
  readonly enabled?: boolean
  /** Asks again after so many milliseconds; false: not by itself. */
  readonly everyMs?: number | false
}

/** A record or list of the API, kept by its path and query. */
export function useRead<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  query: QueryValues | (() => QueryValues) = {},
  { enabled = true, everyMs = false }: Options = {},
  key: unknown = query,
) {
  const { api, user } = useDashboard()
  return useQuery({
    queryKey: [user.user_id, path, key],
    queryFn: ({ signal }) => api.get(schema, path, typeof query === 'function' ? query() : query, signal),
    enabled,
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  })
}
