import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type * as z from 'zod'
import type { QueryValues } from '../api/create-api.ts'
import { useRead } from './use-read.ts'

const lookAgainMs = 1000

/**
 * A job of the API, read each second as long as it runs. At its end everything is read again: lists have it
 * as running.
 * @param enabled false: nothing is asked
 */
export function useJob<Job extends { readonly status: string }>(
  schema: z.ZodType<Job>,
  path: string,
  query: QueryValues,
  enabled: boolean,
) {
  const queries = useQueryClient()
  const [running, setRunning] = useState(true)
  const read = useRead(schema, path, query, { enabled, everyMs: running ? lookAgainMs : false })
  if (read.data !== undefined && (read.data.status === 'RUNNING') !== running)
    setRunning(read.data.status === 'RUNNING')
  const isOver = read.data !== undefined && read.data.status !== 'RUNNING'
  useEffect(() => {
    if (isOver) void queries.invalidateQueries()
  }, [isOver, queries])
  return read
}
