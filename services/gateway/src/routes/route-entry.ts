import type { Call } from '@pitboss/contracts/call'
import { type Caller, callerSchema } from '@pitboss/contracts/caller'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import type { Access } from '../access/access-rule.ts'
import type { ShedClass } from '../limits/load-gauge.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the gateway sends behind a public route, whatever the endpoint's own types are: its parts were parsed with its own schemas. */
const forwardedSchema = z.strictObject({
  caller: callerSchema,
  params: z.unknown().optional(),
  query: z.unknown().optional(),
  body: z.unknown().optional(),
})
export type Forwarded = { caller: Caller; params?: unknown; query?: unknown; body?: unknown }
type ForwardedReply = { status: number; body?: unknown }
export type ForwardCall = Call<Forwarded, ForwardedReply>

/** The shapes of a route, for validation and for OpenAPI. */
type Shapes = {
  readonly params: z.ZodType | null
  readonly query: z.ZodType
  /** Null: none or `{}`. `raw`: the handler reads the body itself. */
  readonly body: z.ZodType | 'raw' | null
  readonly reply: z.ZodType | null
  readonly statuses: readonly number[]
}

/** What answers a route: a service as it is, a service with something added, or the gateway itself. */
type Action =
  | { readonly kind: 'forward'; readonly call: ForwardCall; readonly then: 'answer' | AddedStep }
  | { readonly kind: 'own'; readonly name: OwnAction }

/** What the gateway adds to a service's answer. */
export type AddedStep = 'launch-url' | 'sign-manifest' | 'report-format'

const ownActions = [
  'mint-token',
  'login',
  'refresh',
  'logout',
  'accept-invitation',
  'jwks',
  'event-types',
  'verify-round',
  'verify-page',
  'openapi',
  'docs',
  'wallet-callback',
  'reconcile',
  'healthz',
  'readyz',
  'play-page',
  'dashboard-page',
] as const
export type OwnAction = (typeof ownActions)[number]

export type RouteEntry = {
  readonly method: Method
  /** `{name}` is a parameter, a last `*` is the rest of the path. */
  readonly path: string
  readonly summary: string
  /** Null: no token. */
  readonly access: Access | null
  /** `body`: counted after the body, unless it settles. The two addresses are counted before it, their other limits after it. */
  readonly limit: 'counted' | 'exempt' | 'body' | 'mintAddress' | 'loginAddress'
  readonly shed: ShedClass
  /** What an id that cannot be answers. */
  readonly notFound: ErrorCode
  /** Names one object by id, which without `environment` is looked up in both. */
  readonly byId: boolean
  /** Takes an Idempotency-Key. */
  readonly idempotent: boolean
  readonly shapes: Shapes
  readonly action: Action
}

type AnyEndpoint = {
  readonly route: string
  readonly summary: string
  readonly params?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  readonly body?: z.ZodType | undefined
  readonly reply: z.ZodType
  readonly answer?: z.ZodType | undefined
  readonly statuses: readonly number[]
  readonly empty?: boolean | undefined
  readonly call: Pick<Call<never, unknown>, 'subject' | 'service' | 'budgetMs' | 'neverShed'> & {
    readonly reply: z.ZodType<ForwardedReply>
  }
}

type Rules = {
  access: Access
  limit?: RouteEntry['limit']
  shed?: ShedClass
  notFound?: ErrorCode
  byId?: boolean
  idempotent?: boolean
  then?: AddedStep
  statuses?: readonly number[]
}

const nothing = z.strictObject({})

/** A route that a service answers. */
export function forwarded(endpoint: AnyEndpoint, rules: Rules): RouteEntry {
  const { method, path } = splitRoute(endpoint.route)
  const { subject, service, budgetMs, neverShed = false, reply } = endpoint.call
  return {
    method,
    path,
    summary: endpoint.summary,
    access: rules.access,
    limit: rules.limit ?? 'counted',
    shed: rules.shed ?? 'read',
    notFound: rules.notFound ?? 'NOT_FOUND',
    byId: rules.byId ?? false,
    idempotent: rules.idempotent ?? false,
    shapes: {
      params: endpoint.params ?? null,
      query: endpoint.query ?? nothing,
      body: endpoint.body ?? null,
      reply: endpoint.empty === true ? null : (endpoint.answer ?? endpoint.reply),
      statuses: endpoint.statuses,
    },
    action: {
      kind: 'forward',
      call: { subject, service, budgetMs, neverShed, reply, request: forwardedSchema },
      then: rules.then ?? 'answer',
    },
  }
}

/** A route that the gateway answers, with or without asking a service. */
export function own(
  route: `${Method} /${string}`,
  name: OwnAction,
  rules: {
    summary: string
    access?: Access
    limit?: 'mintAddress' | 'loginAddress'
    shed?: ShedClass
    params?: z.ZodType
    query?: z.ZodType
    body?: z.ZodType | 'raw'
    reply?: z.ZodType
    statuses?: readonly number[]
  },
): RouteEntry {
  return {
    ...splitRoute(route),
    summary: rules.summary,
    access: rules.access ?? null,
    limit: rules.limit ?? (rules.access === undefined ? 'exempt' : 'counted'),
    shed: rules.shed ?? 'read',
    notFound: 'NOT_FOUND',
    byId: false,
    idempotent: false,
    shapes: {
      params: rules.params ?? null,
      query: rules.query ?? nothing,
      body: rules.body ?? null,
      reply: rules.reply ?? null,
      statuses: rules.statuses ?? [200],
    },
    action: { kind: 'own', name },
  }
}

function splitRoute(route: string): { method: Method; path: string } {
  const [method, path] = route.split(' ')
  const known = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).find((one) => one === method)
  if (known === undefined || path === undefined) throw new RangeError(`bad route: ${route}`)
  return { method: known, path }
}
