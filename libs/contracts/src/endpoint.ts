import { z } from 'zod'
import { tokenOfCaller } from './call-token.ts'
import { defineCall } from './call.ts'
import { callerSchema, type Role } from './caller.ts'
import type { scopeName } from './objects/account.ts'
import { accountMode } from './primitives.ts'

/** A public HTTP route that one service answers: its tokens, its shapes and the call that carries it. */

/** HTTP method and path as in docs/contract.md, section 2, e.g. `GET /v1/rounds/{round_id}`. */
type Route = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`

/** A scope; `unrestricted` is granted by no scope, only by a credential without scopes. */
export type ScopeRule = z.infer<typeof scopeName> | 'unrestricted'

/** The tokens that a route takes, by audience; a missing audience is refused. */
export type Access = {
  readonly 'operator-api'?: ScopeRule
  readonly 'game-launcher'?: 'that session'
  readonly dashboard?: readonly Role[]
}

type EndpointDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Reply extends z.ZodType,
  Added extends z.ZodType = z.ZodUndefined,
> = {
  readonly access: Access
  /** Subject of its call, `<service>.v1.<noun>.<verb>`. */
  readonly subject: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** What the gateway adds to the call; no part of the public request. */
  readonly added?: Added
  readonly reply: Reply
  /** Milliseconds that the service has to answer; default 5000. */
  readonly budgetMs?: number
  /** As of a call. */
  readonly neverShed?: boolean
}

const nothing = z.strictObject({})

/** Defines a public endpoint, asked with `{ caller, params, query, body }`, answered `{ status, body }`. */
export function defineEndpoint<
  Reply extends z.ZodType,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = z.ZodUndefined,
  Added extends z.ZodType = z.ZodUndefined,
>(route: Route, definition: EndpointDefinition<Params, Query, Body, Reply, Added>) {
  const query = (definition.query ?? nothing) as Query
  const request = z.strictObject({
    caller: callerSchema,
    params: (definition.params ?? nothing) as Params,
    query,
    body: (definition.body ?? z.undefined().optional()) as Body,
    added: (definition.added ?? z.undefined()).optional() as z.ZodOptional<Added>,
  })
  const reply = z.strictObject({ status: z.int(), body: definition.reply })
  return {
    ...definition,
    route,
    query,
    call: defineCall(definition.subject, {
      request,
      reply,
      ...(definition.budgetMs === undefined ? {} : { budgetMs: definition.budgetMs }),
      neverShed: definition.neverShed ?? false,
      token: tokenOfCaller(definition.access),
      isAudited: isAudited(route, definition.access),
    }),
  }
}

/** What a person changes, and the settings that a key pair changes. */
function isAudited(route: Route, access: Access): boolean {
  if (access.dashboard !== undefined) return !route.startsWith('GET ')
  return access['operator-api'] !== undefined && /^(PUT|PATCH) /.test(route)
}

/**
 * Defines the dashboard's door to an endpoint of operator servers: the same but for `dashboard/` in its
 * route, the roles that may use it, and `environment` in the query. Its subject ends in `-for-dashboard`.
 */
export function forDashboard<
  Reply extends z.ZodType,
  Params extends z.ZodType,
  Shape extends z.core.$ZodLooseShape,
  Body extends z.ZodType,
>(
  endpoint: EndpointDefinition<Params, z.ZodObject<Shape>, Body, Reply> & {
    route: Route
    query: z.ZodObject<Shape>
  },
  access: Access,
) {
  return defineEndpoint(endpoint.route.replace('/v1/', '/v1/dashboard/') as Route, {
    ...endpoint,
    subject: `${endpoint.subject}-for-dashboard`,
    access,
    query: z.strictObject({ environment: accountMode.optional(), ...endpoint.query.shape }),
  })
}

/** Groups of dashboard users by what they may use. Source: docs/contract.md, section 11, "Users". */

/** Own account, games, brands, business, reports; reads of sessions, money, events and deliveries. */
export const everybody = { dashboard: ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT', 'VIEWER'] } satisfies Access
export const ownerAlone = { dashboard: ['OWNER'] } satisfies Access
export const ownerAndAdmin = { dashboard: ['OWNER', 'ADMIN'] } satisfies Access
/** Credentials, wallets, webhook endpoints and the request log. */
export const builders = { dashboard: ['OWNER', 'ADMIN', 'DEVELOPER'] } satisfies Access
/** Saved views of lists: everybody who may change anything. */
export const viewKeepers = { dashboard: ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT'] } satisfies Access
/** Ends a player's session: who answers players, too. */
export const sessionClosers = { dashboard: ['OWNER', 'ADMIN', 'SUPPORT'] } satisfies Access
/** The case of a flag: who answers players, too. */
export const flagWriters = { dashboard: ['OWNER', 'ADMIN', 'SUPPORT'] } satisfies Access
export const deliveryRetriers = { dashboard: ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT'] } satisfies Access
