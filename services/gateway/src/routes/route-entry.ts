import type { Call } from '@pitboss/contracts/call'
import { type Caller, callerSchema, type LackingStep } from '@pitboss/contracts/caller'
import type { Access, defineEndpoint } from '@pitboss/contracts/endpoint'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import { forward } from '../answers/forward.ts'
import type { Answer, AnswerDeps, Handler, Inbound } from '../http/inbound.ts'
import type { ShedClass } from '../limits/load-gauge.ts'

const jsonType = 'application/json'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The request that the gateway forwards; its parts were parsed with the endpoint's own schemas. */
const forwardedSchema = z.strictObject({
  caller: callerSchema,
  params: z.unknown().optional(),
  query: z.unknown().optional(),
  body: z.unknown().optional(),
  added: z.unknown().optional(),
})
export type Forwarded = {
  caller: Caller
  params?: unknown
  query?: unknown
  body?: unknown
  /** What the gateway adds, by the endpoint. */
  added?: unknown
}
type ForwardedReply = { status: number; body?: unknown }
export type ForwardCall = Call<Forwarded, ForwardedReply>

/** The shapes of a route, for validation and for OpenAPI. */
type Shapes = {
  readonly params: z.ZodType | null
  readonly query: z.ZodType
  /** Null: none or `{}`. `bytes`: as it came. `raw`: the handler reads the body itself. */
  readonly body: z.ZodType | 'bytes' | 'raw' | null
  /** What `bytes` and `raw` hold, for OpenAPI alone. */
  readonly unreadBody: z.ZodType
  readonly reply: z.ZodType | null
  readonly statuses: readonly number[]
}

/** A row of the route table. */
export type RouteEntry = {
  readonly method: Method
  /** `{name}` is a parameter, a last `*` is the rest of the path. */
  readonly path: string
  readonly summary: string
  /** Null: no token. */
  readonly access: Access | null
  /** Steps that a person may still have to take. */
  readonly mayLack: readonly LackingStep[]
  /**
   * `body`: counted after the body, unless it settles. An address is counted before it, further limits of the
   * route after it. `callback`: by its signature.
   */
  readonly limit: 'counted' | 'exempt' | 'body' | 'callback' | 'mintAddress' | 'loginAddress' | 'address'
  readonly shed: ShedClass
  /** The error for an id that cannot be. */
  readonly notFound: ErrorCode
  /** Errors beyond those that follow from the rest of the row. */
  readonly errors: readonly ErrorCode[]
  /** Names one object by id, which without `environment` is looked up in both. */
  readonly byId: boolean
  /** Takes an Idempotency-Key. */
  readonly idempotent: boolean
  /** Pages and probes take whatever query a browser or a probe adds. */
  readonly anyQuery: boolean
  readonly shapes: Shapes
  /** A request body for OpenAPI; undefined where the schema tells one. */
  readonly example: unknown
  readonly bodyType: string
  /** The content type that may answer in place of JSON. */
  readonly alsoAnswers: string | null
  /** A service answers, or the gateway itself. */
  readonly action: { readonly kind: 'forward'; readonly call: ForwardCall } | { readonly kind: 'own' }
  /** Makes the handler of one gateway. Rows with the same function share a handler. */
  readonly answer: (deps: AnswerDeps) => Handler
}

type AnyEndpoint = Omit<ReturnType<typeof defineEndpoint>, 'call'> & {
  readonly call: Pick<
    Call<never, unknown>,
    'subject' | 'service' | 'budgetMs' | 'callers' | 'token' | 'neverShed'
  > & {
    readonly reply: z.ZodType<ForwardedReply>
  }
}

type ForwardRules = Partial<
  Pick<RouteEntry, 'mayLack' | 'shed' | 'notFound' | 'errors' | 'byId' | 'idempotent' | 'example'>
> & {
  limit?: 'exempt' | 'body'
  /** Statuses of success; the first is the usual one. Default 200. After 204 comes no body. */
  statuses?: readonly number[]
  /** The body of the answer where the gateway adds to the service's reply. */
  reply?: z.ZodType
  /** Sends the call and adds to the reply. Default: the reply as it is. */
  answer?: (deps: AnswerDeps, call: ForwardCall) => Handler
  alsoAnswers?: 'text/csv'
}

/** A route that a service answers. */
export function forwarded(endpoint: AnyEndpoint, summary: string, rules: ForwardRules = {}): RouteEntry {
  const { subject, service, budgetMs, callers, token, neverShed = false, reply } = endpoint.call
  const call = { subject, service, budgetMs, callers, token, neverShed, reply, request: forwardedSchema }
  const { answer = forward, statuses = [200] } = rules
  return {
    ...splitRoute(endpoint.route),
    summary,
    access: endpoint.access,
    mayLack: rules.mayLack ?? [],
    limit: rules.limit ?? 'counted',
    shed: rules.shed ?? 'read',
    notFound: rules.notFound ?? 'NOT_FOUND',
    errors: rules.errors ?? [],
    byId: rules.byId ?? false,
    idempotent: rules.idempotent ?? false,
    anyQuery: false,
    shapes: {
      params: endpoint.params ?? null,
      query: endpoint.query,
      body: endpoint.body ?? null,
      unreadBody: z.string(),
      reply: statuses.includes(204) ? null : (rules.reply ?? endpoint.reply),
      statuses,
    },
    example: rules.example,
    bodyType: jsonType,
    alsoAnswers: rules.alsoAnswers ?? null,
    action: { kind: 'forward', call },
    answer: (deps) => answer(deps, call),
  }
}

type OwnRoute<Body, Query> = {
  summary: string
  answer: (deps: AnswerDeps) => (inbound: Inbound<Body, Query>) => Promise<Answer>
  access?: Access
  limit?: 'mintAddress' | 'loginAddress' | 'address' | 'callback'
  shed?: ShedClass
  errors?: readonly ErrorCode[]
  params?: z.ZodType
  query?: z.ZodType<Query> | 'any'
  notFound?: ErrorCode
  byId?: boolean
  body?: z.ZodType<Body> | 'bytes' | 'raw'
  unreadBody?: z.ZodType
  bodyType?: string
  example?: unknown
  reply?: z.ZodType
  alsoAnswers?: 'text/event-stream'
  statuses?: readonly number[]
}

/** A route that the gateway answers, with or without asking a service. */
export function own<Body = unknown, Query = unknown>(
  route: `${Method} /${string}`,
  rules: OwnRoute<Body, Query>,
): RouteEntry {
  const { query = 'none' } = rules
  return {
    ...splitRoute(route),
    summary: rules.summary,
    access: rules.access ?? null,
    mayLack: [],
    limit: rules.limit ?? (rules.access === undefined ? 'exempt' : 'counted'),
    shed: rules.shed ?? 'read',
    notFound: rules.notFound ?? 'NOT_FOUND',
    errors: rules.errors ?? [],
    byId: rules.byId ?? false,
    idempotent: false,
    anyQuery: query === 'any',
    shapes: {
      params: rules.params ?? null,
      query: typeof query === 'string' ? z.strictObject({}) : query,
      body: rules.body ?? null,
      unreadBody: rules.unreadBody ?? z.string(),
      reply: rules.reply ?? null,
      statuses: rules.statuses ?? [200],
    },
    example: rules.example,
    bodyType: rules.bodyType ?? jsonType,
    alsoAnswers: rules.alsoAnswers ?? null,
    action: { kind: 'own' },
    // Safe: the handler gets values that these very schemas have parsed.
    answer: rules.answer as (deps: AnswerDeps) => Handler,
  }
}

function splitRoute(route: string): { method: Method; path: string } {
  const [method, path] = route.split(' ')
  const known = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).find((one) => one === method)
  if (known === undefined || path === undefined) throw new RangeError(`bad route: ${route}`)
  return { method: known, path }
}
