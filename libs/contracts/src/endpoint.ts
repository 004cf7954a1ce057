import { z } from 'zod'
import { defineCall } from './call.ts'
import { callerSchema } from './caller.ts'

/** A public HTTP route that one service answers: its schemas and the call that carries it. Source: ours. */

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type EndpointDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Reply extends z.ZodType,
> = {
  /** HTTP method and path as in contract section 2, e.g. `GET /v1/rounds/{round_id}`. */
  readonly route: `${HttpMethod} /v1/${string}`
  readonly service: 'auth' | 'rounds' | 'wallet' | 'webhooks'
  /** `<noun>.<verb>`, the rest of the subject after `<service>.v1.`. */
  readonly name: string
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly reply: Reply
  /** The body of the answer where the gateway adds to the service's reply. */
  readonly answer?: z.ZodType
  /** Statuses that success may have; the first is the usual one. Default 200. */
  readonly statuses?: readonly number[]
  /** Milliseconds that the service has to answer; default 5000. */
  readonly budgetMs?: number
  /** As of a call. */
  readonly neverShed?: boolean
  /** Answers without a body (204). */
  readonly empty?: boolean
}

const nothing = z.strictObject({})

/**
 * Defines a public endpoint. The request on the wire is `{ caller, params, query, body }` with parsed values, the reply
 * `{ status, body }`.
 */
export function defineEndpoint<
  Reply extends z.ZodType,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: EndpointDefinition<Params, Query, Body, Reply>) {
  const request = z.strictObject({
    caller: callerSchema,
    params: (definition.params ?? nothing) as Params,
    query: (definition.query ?? nothing) as Query,
    body: (definition.body ?? z.undefined().optional()) as Body,
  })
  const reply = z.strictObject({ status: z.int(), body: definition.reply })
  return {
    ...definition,
    statuses: definition.statuses ?? [200],
    call: defineCall({
      subject: `${definition.service}.v1.${definition.name}`,
      request,
      reply,
      budgetMs: definition.budgetMs ?? 5000,
      neverShed: definition.neverShed ?? false,
    }),
  }
}
