import { useEffect, useRef, useState } from 'react'
import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import type { QueryValues } from '../api/create-api.ts'
import { framesOf } from '../api/tail-frames.ts'
import { useDashboard } from '../session/dashboard-context.ts'

/** With the 50 rows of the list below, a page has at most 200. */
const rowsMax = 150
const firstWaitMs = 1000
const longestWaitMs = 30_000
const missedSchema = z.object({ count: z.number() })

type TailState<Row> = {
  readonly rows: readonly Row[]
  /** Records that came while the tail was paused, newest first. */
  readonly held: readonly Row[]
  readonly missed: number
  readonly link: 'opening' | 'live' | 'lost'
  readonly error: ApiError | null
}

/**
 * Follows the account while `query` is not null. After a lost connection it comes back, later each time; a
 * token that has run out is renewed on the way. What happens in between does not come.
 */
export function useTail<Row>({
  query,
  schema,
  keyOf,
  paused,
}: {
  readonly query: QueryValues | null
  readonly schema: z.ZodType<Row>
  readonly keyOf: (row: Row) => string
  readonly paused: boolean
}) {
  const { api } = useDashboard()
  const empty: TailState<Row> = { rows: [], held: [], missed: 0, link: 'opening', error: null }
  const [state, setState] = useState(empty)
  const isPaused = useRef(paused)
  isPaused.current = paused
  const asked = query === null ? null : JSON.stringify(query)

  useEffect(() => {
    if (asked === null) return undefined
    const stopping = new AbortController()
    const { signal } = stopping
    setState(empty)
    const take = (event: string, data: string) => {
      if (event === 'end') return
      if (event === 'missed') {
        const { count } = missedSchema.parse(JSON.parse(data))
        setState((now) => ({ ...now, missed: now.missed + count }))
        return
      }
      const row = schema.parse(JSON.parse(data))
      setState((now) =>
        isPaused.current
          ? { ...now, held: onTop([row], now.held, keyOf) }
          : { ...now, rows: onTop([row], now.rows, keyOf) },
      )
    }
    async function once(onOpen: () => void): Promise<void> {
      const body = await api.stream('dashboard/stream', JSON.parse(asked ?? '{}'), signal)
      onOpen()
      for await (const { event, data } of framesOf(body)) take(event, data)
    }
    async function run(): Promise<void> {
      let waitMs = firstWaitMs
      while (!signal.aborted) {
        try {
          await once(() => {
            waitMs = firstWaitMs
            setState((now) => ({ ...now, link: 'live', error: null }))
          })
        } catch (error) {
          if (signal.aborted) return
          if (error instanceof ApiError && !error.retryable && error.code !== 'NO_ANSWER') {
            setState((now) => ({ ...now, link: 'lost', error }))
            return
          }
        }
        if (signal.aborted) return
        setState((now) => ({ ...now, link: 'lost' }))
        await sleep(waitMs, signal)
        waitMs = Math.min(longestWaitMs, 2 * waitMs)
      }
    }
    void run()
    return () => stopping.abort()
    // The query is compared by its text.
  }, [api, asked, schema, keyOf])

  useEffect(() => {
    if (!paused)
      setState((now) =>
        now.held.length === 0 ? now : { ...now, rows: onTop(now.held, now.rows, keyOf), held: [] },
      )
  }, [paused, keyOf])
  return state
}

/** The fresh rows above the others; a record that comes again takes its row along. */
function onTop<Row>(fresh: readonly Row[], rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const known = new Set(fresh.map(keyOf))
  return [...fresh, ...rows.filter((row) => !known.has(keyOf(row)))].slice(0, rowsMax)
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
