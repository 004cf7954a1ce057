import type { RequestLogDocument } from '../storage/request-logs-store.ts'

/** The public record of a logged request. Source: docs/contract.md, section 11. */
export function toPublicRequest(row: RequestLogDocument) {
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
