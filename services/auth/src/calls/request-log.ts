import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import { listRequestLogs } from '@pitboss/contracts/endpoints/auth'
import type { AuthDeps } from '../actions/deps.ts'
import { createRecordRequests } from '../actions/record-requests.ts'
import { toPublicRequest } from '../records/request-log-view.ts'

/** The log of HTTP requests. Source: docs/contract.md, sections 3 and 11. */
export function requestLogCalls(deps: AuthDeps): CallHandler[] {
  const recordRequests = createRecordRequests(deps)
  return [
    handler(appendRequestLog, async ({ rows }) => ({ written: await recordRequests.append(rows) })),
    handler(listRequestLogs.call, async ({ caller, query }) => {
      const { limit, cursor, environment: _, ...filters } = query
      const { rows, nextCursor } = await recordRequests.list(caller.scope, filters, { limit, cursor })
      return { status: 200, body: { data: rows.map(toPublicRequest), next_cursor: nextCursor } }
    }),
  ]
}
