import type { Scope } from '@pitboss/contracts/caller'
import type { RequestLogRow } from '@pitboss/contracts/objects/account'
import type { EventEnvironment } from '@pitboss/contracts/primitives'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { type Db, MongoBulkWriteError } from 'mongodb'
import { type AccountScope, type PageQuery, readPage } from './page.ts'

const duplicateKey = 11_000

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
        .find({ operatorId, environment, status: { $gte: 400 }, at: { $gte: since } })
        .sort({ order: -1 })
        .hint('refused')
        .limit(max)
        .toArray(),

    /** Newest first. */
    page({ operatorId, environment }: Scope, { from, to, ...filters }: RequestLogFilters, query: PageQuery) {
      const window = {
        ...(from === undefined ? {} : { $gte: new Date(from) }),
        ...(to === undefined ? {} : { $lte: new Date(to) }),
      }
      return readPage({
        collection: requestLogs,
        filter: {
          operatorId,
          environment,
          ...(filters.api_key === undefined ? {} : { apiKey: filters.api_key }),
          ...(filters.status === undefined ? {} : { status: Number.parseInt(filters.status, 10) }),
          ...(filters.method === undefined ? {} : { method: filters.method }),
          ...(filters.code === undefined ? {} : { code: filters.code }),
          ...(filters.request_id === undefined ? {} : { requestId: filters.request_id }),
          ...(filters.path === undefined
            ? {}
            : { path: { $gte: filters.path, $lt: `${filters.path}\uffff` } }),
          ...(Object.keys(window).length === 0 ? {} : { at: window }),
        },
        order: 'order',
        query,
        cursors,
        binding: ['request-logs', operatorId, environment, filters, from ?? null, to ?? null],
      })
    },
  }
}
