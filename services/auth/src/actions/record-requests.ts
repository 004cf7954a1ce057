import { createHash } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import type { appendRequestLog } from '@pitboss/contracts/calls/auth'
import { canonicalJson } from '@pitboss/contracts/json'
import type { ScopeName } from '@pitboss/contracts/objects/account'
import { readWindow } from '@pitboss/storage/created-within'
import type { z } from 'zod'
import { toPublicRequest } from '../records/account-view.ts'
import { groupMistakes } from '../rules/group-mistakes.ts'
import { scopeOfRequest } from '../rules/scope-of-request.ts'
import type { RequestLogDocument, RequestLogFilters } from '../storage/logs-store.ts'
import type { PageQuery } from '../storage/page.ts'
import type { AuthDeps } from './deps.ts'

type Row = z.infer<typeof appendRequestLog.request>['rows'][number]

/** Bounds of one answer about mistakes. Source: ours. */
const [refusalsMax, mistakesMax] = [5000, 100]
const mistakesMs = 7 * 24 * 60 * 60 * 1000

/** Writes and lists the requests of the last 30 days. Source: docs/contract.md, sections 3 and 11. */
export function createRecordRequests({ stores: { requestLogs, credentials } }: AuthDeps) {
  return {
    /**
     * Writes rows without the api_key of a deleted key pair, and notes which scopes each key has used.
     * @returns the number of new rows
     */
    async append(rows: readonly Row[]): Promise<number> {
      if (rows.length === 0) return 0
      const keys = [...new Set(rows.map((row) => row.api_key).filter((key) => key !== null))]
      const known = await credentials.present(keys)
      const written = await requestLogs.append(rows.map((row) => toDocument(row, known)))
      // A deletion that ended in the meantime may have looked for rows before these were there.
      const after = await credentials.present([...known.keys()])
      const deleted = [...known.keys()].filter((key) => !after.has(key))
      const owners = deleted.length === 0 ? [] : rows.map((row) => row.operatorId)
      for (const operatorId of new Set(owners)) await requestLogs.unlink({ operatorId }, deleted)
      for (const [key, scopes] of after) {
        const fresh = scopesUsedBy(rows, key).filter((scope) => !scopes.includes(scope))
        if (fresh.length > 0) await credentials.noteScopes(key, fresh)
      }
      return written
    },

    /** What went wrong in the last 7 days, by the newest refusals. */
    async mistakes(scope: Scope, now: Date) {
      const from = new Date(now.getTime() - mistakesMs)
      const rows = await requestLogs.refused(scope, from, refusalsMax + 1)
      const data = groupMistakes(rows.slice(0, refusalsMax).map(toPublicRequest)).slice(0, mistakesMax)
      return { data, from: from.toISOString(), complete: rows.length <= refusalsMax }
    },

    /** Lists rows, newest first; a list with an end alone begins 7 days before it. */
    list(scope: Scope, { limit, cursor, ...filters }: RequestLogFilters & PageQuery) {
      const from = filters.from ?? readWindow(filters).from?.toISOString()
      return requestLogs.page(scope, { ...filters, from }, { limit, cursor })
    },
  }
}

/** Scopes of a key's requests that were not refused. */
function scopesUsedBy(rows: readonly Row[], apiKey: string): ScopeName[] {
  const scopes = rows
    .filter(({ api_key, status }) => api_key === apiKey && status < 400)
    .map(scopeOfRequest)
    .filter((scope) => scope !== null && scope !== 'unrestricted')
  return [...new Set(scopes)]
}

/** The id is a hash of the row, so that a repeated row is written once. */
function toDocument(row: Row, known: ReadonlyMap<string, unknown>): RequestLogDocument {
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
    ...(row.answer === undefined ? {} : { answer: row.answer }),
  }
}
