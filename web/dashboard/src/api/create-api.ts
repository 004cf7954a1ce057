import type * as z from 'zod'
import type { Session } from '../session/create-session.ts'
import { ApiError } from './api-error.ts'
import { type AnswerOf, exchange, openStream, type Method, type Outgoing } from './exchange.ts'

export type QueryValues = Readonly<Record<string, string | null | undefined>>

export type Api = {
  /** @throws ApiError */
  get<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    query?: QueryValues,
    signal?: AbortSignal,
  ): Promise<AnswerOf<Schema>>
  /** Opens a stream; its body comes as it happens, until `signal` ends it. @throws ApiError */
  stream(path: string, query: QueryValues, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** Writes; `schema` is null for an answer without a body. @throws ApiError */
  send<Schema extends z.ZodType | null>(
    schema: Schema,
    method: Exclude<Method, 'GET'>,
    path: string,
    outgoing?: Pick<Outgoing, 'body' | 'idempotencyKey'>,
  ): Promise<AnswerOf<Schema>>
}

const staleToken = new Set(['TOKEN_EXPIRED', 'INVALID_CREDENTIALS'])

/**
 * The API as the person who is signed in. A token that has run out is renewed once, and the request is sent
 * again: it was refused before anything was done.
 */
export function createApi(session: Session): Api {
  async function call<Schema extends z.ZodType | null>(
    schema: Schema,
    method: Method,
    path: string,
    outgoing: Outgoing,
  ) {
    const token = await session.token()
    try {
      return await exchange(schema, method, path, { ...outgoing, token })
    } catch (error) {
      // A wrong password or code in one's own account is INVALID_CREDENTIALS, too.
      const ownAccount = method !== 'GET' && path.startsWith('dashboard/me/')
      if (!(error instanceof ApiError) || !staleToken.has(error.code) || ownAccount) throw error
      return exchange(schema, method, path, { ...outgoing, token: await session.renewed(token) })
    }
  }
  async function stream(path: string, query: QueryValues, signal: AbortSignal) {
    const token = await session.token()
    const address = path + queryText(query)
    try {
      return await openStream(address, token, signal)
    } catch (error) {
      if (!(error instanceof ApiError) || !staleToken.has(error.code)) throw error
      return openStream(address, await session.renewed(token), signal)
    }
  }
  return {
    stream,
    get: (schema, path, query = {}, signal) =>
      call(schema, 'GET', path + queryText(query), signal === undefined ? {} : { signal }),
    send: (schema, method, path, outgoing = {}) => call(schema, method, path, outgoing),
  }
}

function queryText(query: QueryValues): string {
  const values = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, value]],
  )
  return values.length === 0 ? '' : `?${new URLSearchParams(values)}`
}
