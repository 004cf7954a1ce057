import { createHash } from 'node:crypto'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import { listRequestLogs } from '@pitboss/contracts/endpoints/auth'
import { canonicalJson } from '@pitboss/storage/canonical-json'
import { MongoBulkWriteError } from 'mongodb'
import type { RequestLogDocument } from '../storage/documents.ts'
import { readPage } from '../storage/page.ts'
import type { AuthDeps } from './deps.ts'

const duplicateKey = 11_000

/** Requests of the last 30 days. Source: contract section 3. */
export function requestLogHandlers({ collections, cursors }: AuthDeps): CallHandler[] {
  const { requestLogs, credentials } = collections

  async function presentOf(keys: readonly string[]): Promise<Set<string>> {
    const present = await credentials
      .find({ _id: { $in: [...keys] }, status: { $ne: 'DELETED' } }, { projection: { _id: 1 } })
      .toArray()
    return new Set(present.map(({ _id }) => _id))
  }

  /** Rows that are there already, from a try before, are passed over. */
  async function insert(documents: readonly RequestLogDocument[]): Promise<number> {
    try {
      return (await requestLogs.insertMany([...documents], { ordered: false })).insertedCount
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || error.code !== duplicateKey) throw error
      return error.insertedCount
    }
  }

  return [
    handler(appendRequestLog, async ({ rows }) => {
      if (rows.length === 0) return { written: 0 }
      const keys = [...new Set(rows.map((row) => row.api_key).filter((key) => key !== null))]
      const known = await presentOf(keys)
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
      const written = await insert(documents)
      // A key that was deleted meanwhile: its deletion may have come too early to see these rows.
      const after = await presentOf([...known])
      const gone = [...known].filter((key) => !after.has(key))
      if (gone.length > 0) {
        const operatorIds = [...new Set(rows.map((row) => row.operatorId))]
        const linked = { operatorId: { $in: operatorIds }, apiKey: { $in: gone } }
        await requestLogs.updateMany(linked, { $set: { apiKey: null } })
      }
      return { written }
    }),

    handler(listRequestLogs.call, async ({ caller, query }) => {
      const { operatorId, environment } = caller.scope
      const { limit, cursor, environment: _, from, to, ...filters } = query
      const window = {
        ...(from === undefined ? {} : { $gte: new Date(from) }),
        ...(to === undefined ? {} : { $lte: new Date(to) }),
      }
      const { rows, nextCursor } = await readPage({
        collection: requestLogs,
        filter: {
          operatorId,
          environment,
          ...(filters.api_key === undefined ? {} : { apiKey: filters.api_key }),
          ...(filters.status === undefined ? {} : { status: Number.parseInt(filters.status, 10) }),
          ...(filters.method === undefined ? {} : { method: filters.method }),
          ...(filters.code === undefined ? {} : { code: filters.code }),
          ...(Object.keys(window).length === 0 ? {} : { at: window }),
        },
        order: 'order',
        limit,
        cursor,
        cursors,
        binding: ['request-logs', operatorId, environment, filters, from ?? null, to ?? null],
      })
      return { status: 200, body: { data: rows.map(toPublic), next_cursor: nextCursor } }
    }),
  ]
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
