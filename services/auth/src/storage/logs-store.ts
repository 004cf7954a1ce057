import type { Scope } from '@pitboss/contracts/caller'
import type { RequestLogRow } from '@pitboss/contracts/objects/account'
import type { EventEnvironment } from '@pitboss/contracts/primitives'
import { areFew } from '@pitboss/storage/are-few'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { type Db, MongoBulkWriteError } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

const duplicateKey = 11_000
/** Statuses of requests that were refused begin here. */
const refusedFrom = 400

export type RequestLogDocument = {
  _id: string
  /** Time and hash; pages are in this order, newest first. */
  order: string
  operatorId: string
  environment: EventEnvironment
  requestId: string
  at: Date
  method: string
  path: string
  status: number
  code: string | null
  latencyMs: number
  apiKey: string | null
  clientAddress: string
  /** Absent for requests that were not refused, and in rows of earlier releases. */
  answer?: NonNullable<RequestLogRow['answer']>
}

export type RequestLogFilters = {
  readonly api_key?: string | undefined
  readonly status?: string | undefined
  readonly method?: string | undefined
  readonly code?: string | undefined
  readonly request_id?: string | undefined
  readonly path?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The requests of the last 30 days. */
export function createRequestLogsStore({ db, cursors }: { db: Db; cursors: CursorCodec }) {
  const requestLogs = db.collection<RequestLogDocument>('request_logs')
  return {
    /**
     * Inserts rows and passes over those that an earlier try inserted.
     * @returns the number of new rows
     */
    async append(rows: readonly RequestLogDocument[]): Promise<number> {
      try {
        return (await requestLogs.insertMany([...rows], { ordered: false })).insertedCount
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError) || error.code !== duplicateKey) throw error
        return error.insertedCount
      }
    },

    /** Removes deleted keys from the rows of an account. */
    async unlink({ operatorId }: AccountScope, apiKeys: readonly string[]): Promise<void> {
      await requestLogs.updateMany({ operatorId, apiKey: { $in: [...apiKeys] } }, { $set: { apiKey: null } })
    },

    /** Refused requests since a time, newest first. */
    refused: ({ operatorId, environment }: Scope, since: Date, max: number) =>
      requestLogs
        .find({ operatorId, environment, status: { $gte: refusedFrom }, at: { $gte: since } })
        .sort({ order: -1 })
        .hint('refused')
        .limit(max)
        .toArray(),

    /** Newest first. */
    async page(scope: Scope, filters: RequestLogFilters, query: PageQuery) {
      const { from, to, ...named } = filters
      const { operatorId, environment } = scope
      const fields = fieldsOf(named)
      return readPage({
        collection: requestLogs,
        filter: { operatorId, environment, ...fields, ...windowOf(filters) },
        order: 'order',
        query,
        cursors,
        binding: ['request-logs', operatorId, environment, named, from ?? null, to ?? null],
        hint: await indexFor(scope, fields),
      })
    },
  }

  /**
   * The index by which the rows of a page are few or in their order, so that a rare value is not looked for
   * through a month of requests.
   */
  async function indexFor({ operatorId, environment }: Scope, fields: RowFilter): Promise<string> {
    const { requestId, path, apiKey, status, method } = fields
    if (requestId !== undefined) return 'by_request'
    if (path !== undefined && (await areFew(requestLogs, { operatorId, environment, path }, 'by_path')))
      return 'by_path'
    if (apiKey !== undefined && (await areFew(requestLogs, { operatorId, apiKey }, 'by_credential')))
      return 'by_credential'
    if (status?.$eq !== undefined) return 'by_status'
    if (status !== undefined) return 'refused'
    return method === undefined ? 'by_account' : 'by_method'
  }
}

type RowFilter = {
  readonly requestId?: string
  readonly path?: { readonly $gte: string; readonly $lt: string }
  readonly apiKey?: string
  readonly status?: { readonly $eq?: number; readonly $gte?: number }
  readonly code?: string
  readonly method?: string
}

/** A code is of a refused request. */
function fieldsOf({ api_key, status, method, code, request_id, path }: RequestLogFilters): RowFilter {
  const refused = code === undefined ? {} : { code, status: { $gte: refusedFrom } }
  return {
    ...(api_key === undefined ? {} : { apiKey: api_key }),
    ...refused,
    ...(status === undefined ? {} : { status: { ...refused.status, $eq: Number.parseInt(status, 10) } }),
    ...(method === undefined ? {} : { method }),
    ...(request_id === undefined ? {} : { requestId: request_id }),
    ...(path === undefined ? {} : { path: { $gte: path, $lt: `${path}\uffff` } }),
  }
}

function windowOf({ from, to }: RequestLogFilters) {
  if (from === undefined && to === undefined) return {}
  return {
    at: {
      ...(from === undefined ? {} : { $gte: new Date(from) }),
      ...(to === undefined ? {} : { $lte: new Date(to) }),
    },
  }
}
