import { createHash } from 'node:crypto'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import { listRequestLogs } from '@pitboss/contracts/endpoints/auth'
import { canonicalJson } from '@pitboss/storage/canonical-json'
import type { RequestLogDocument } from '../storage/documents.ts'
import type { AuthDeps } from './deps.ts'

const defaultWindowMs = 7 * 24 * 60 * 60 * 1000

/** Requests of the last 30 days. Source: contract section 3. */
export function requestLogHandlers({ stores }: AuthDeps): CallHandler[] {
  const { requestLogs, credentials } = stores

  return [
    handler(appendRequestLog, async ({ rows }) => {
      if (rows.length === 0) return { written: 0 }
      const keys = [...new Set(rows.map((row) => row.api_key).filter((key) => key !== null))]
      const known = await credentials.present(keys)
      const documents = rows.map((row): RequestLogDocument => {
        const hash = createHash('sha256').update(canonicalJson(row)).digest('hex').slice(0, 32)
        return {
          _id: hash,
          order: `${row.at}/${hash}`,
          operatorId: row.operatorId,
          environment: row.environment,
          requestId: row.request_id,
          at: new Date(row.at),
          method: row.method,
          path: row.path,
          status: row.status,
          code: row.code,
          latencyMs: row.latency_ms,
          apiKey: row.api_key !== null && known.has(row.api_key) ? row.api_key : null,
          clientAddress: row.client_address,
        }
      })
      const written = await requestLogs.append(documents)
      // A key that was deleted meanwhile: its deletion may have come too early to see these rows.
      const after = await credentials.present([...known])
      const gone = [...known].filter((key) => !after.has(key))
      const owners = gone.length === 0 ? [] : rows.map((row) => row.operatorId)
      for (const operatorId of new Set(owners)) await requestLogs.unlink({ operatorId }, gone)
      return { written }
    }),

    handler(listRequestLogs.call, async ({ caller, query }) => {
      const { limit, cursor, environment: _, from, ...filters } = query
      const window = { ...filters, from: from ?? windowStart(filters.to) }
      const { rows, nextCursor } = await requestLogs.page(caller.scope, window, { limit, cursor })
      return { status: 200, body: { data: rows.map(toPublic), next_cursor: nextCursor } }
    }),
  ]
}

/** A list of which only the end is given begins 7 days before it. Source: contract section 11. */
function windowStart(to: string | undefined): string | undefined {
  return to === undefined ? undefined : new Date(new Date(to).getTime() - defaultWindowMs).toISOString()
}

function toPublic(row: RequestLogDocument) {
  return {
    request_id: row.requestId,
    at: row.at.toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    code: row.code,
    latency_ms: row.latencyMs,
    api_key: row.apiKey,
    client_address: row.clientAddress,
  }
}
