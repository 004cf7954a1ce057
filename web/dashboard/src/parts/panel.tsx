import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'

type PanelProps<Data> = { readonly read: UseQueryResult<Data>; readonly children: (data: Data) => ReactNode }

/** What was read, or that it is on its way, or why it did not come. */
export function Panel<Data>({ read, children }: PanelProps<Data>) {
  const { data, error, isFetching, refetch } = read
  if (error !== null && !(error instanceof ApiError)) throw error
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (data === undefined)
    return (
      <div className="loading" role="status">
        <span className="unseen">Loading</span>
      </div>
    )
  return (
    <div className="panel" aria-busy={isFetching}>
      {children(data)}
    </div>
  )
}
