import { z } from 'zod'
import type { CallToken } from './call-token.ts'

/** One request/reply call: its subject, the service that answers it, both schemas and its time budget. */
export type Call<Request, Reply> = {
  readonly subject: string
  readonly service: CallService
  readonly request: z.ZodType<Request>
  readonly reply: z.ZodType<Reply>
  /** Longest time the caller waits, in milliseconds; the deadline on the wire is never later. */
  readonly budgetMs: number
  /** Who may ask; the rights of NATS users follow from it. */
  readonly callers: readonly CallerName[]
  /** The token that a request carries; the callee checks it before anything else. */
  readonly token: CallToken<Request>
  /** True for calls that settle money or stand behind that: a busy service takes them and sheds others. */
  readonly neverShed?: boolean
  /** True for calls whose changes leave an audit record. Source: docs/contract.md, section 12. */
  readonly isAudited?: boolean
}

/** What a call is asked with, once it is parsed. */
export type RequestOf<One extends { readonly request: z.ZodType }> = z.output<One['request']>

const serviceBySubjectRoot = {
  auth: 'auth',
  rounds: 'rounds',
  wallet: 'wallet-bridge',
  webhooks: 'webhooks',
} as const

/** The services that answer calls. Their name is their queue group and their micro-protocol name. */
export type CallService = (typeof serviceBySubjectRoot)[keyof typeof serviceBySubjectRoot]

/** Those who ask: services, and the operations command. */
export type CallerName = 'gateway' | CallService | 'ops'

/** Budget of a change that all replicas have to acknowledge, which takes 5.1 s at most. Source: ours. */
export const acknowledgedChangeMs = 10_000

const subjectPattern = /^(auth|rounds|wallet|webhooks)\.v1(\.[a-z][a-z0-9-]*)+$/

/**
 * Makes a call value. The service follows from the first token of the subject (`wallet` is `wallet-bridge`).
 * Unless `callers` says otherwise the gateway asks, and operations alone what is under `ops`. Only calls that
 * the gateway may not ask go without a word about their token: services and operations have none. What
 * operations order is audited without a word.
 * Both schemas must accept their own output again, since each side parses (no transforms of the type).
 * @throws RangeError for a subject other than `<service>.v1.<noun>.<verb>`, a budget outside 1 to 60,000 ms
 * (default 5000), or a call of the gateway that says nothing about its token.
 */
export function defineCall<Request, Reply>(
  subject: string,
  {
    budgetMs = 5000,
    ...call
  }: {
    request: z.ZodType<Request>
    reply: z.ZodType<Reply>
    budgetMs?: number
    callers?: readonly CallerName[]
    token?: CallToken<NoInfer<Request>>
    neverShed?: boolean
    isAudited?: boolean
  },
): Call<Request, Reply> {
  const root = subjectPattern.exec(subject)?.[1]
  if (root === undefined || !isSubjectRoot(root)) throw new RangeError(`bad call subject: ${subject}`)
  if (!Number.isInteger(budgetMs) || budgetMs < 1 || budgetMs > 60_000) {
    throw new RangeError(`bad time budget of ${subject}: ${budgetMs} ms`)
  }
  const isOfOperations = subject.includes('.v1.ops.')
  const callers = call.callers ?? (isOfOperations ? ['ops'] : ['gateway'])
  if (callers.includes('gateway') && call.token === undefined) {
    throw new RangeError(`${subject} says nothing about its token`)
  }
  const token = call.token ?? { none: `asked by ${callers.join(' and ')} alone` }
  const isOrder = isOfOperations && call.request instanceof z.ZodObject && 'order' in call.request.shape
  const isAudited = call.isAudited ?? isOrder
  const service = serviceBySubjectRoot[root]
  return Object.freeze({ ...call, subject, budgetMs, callers, token, isAudited, service })
}

/**
 * Travels beside a request: the request id of the HTTP edge, the W3C trace context, and in milliseconds
 * since the epoch its deadline. The token goes no further than to the first callee.
 */
export const callContextSchema = z.object({
  requestId: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  traceparent: z
    .string()
    .regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
    .optional(),
  deadlineAtMs: z.number().int().positive().optional(),
  /** True for settlement beyond the places of its account: it is stored, and its result is not waited for. */
  atOnce: z.boolean().optional(),
  /** The access token of the request's sender, which the gateway has verified. */
  token: z.string().optional(),
})

export type CallContext = z.infer<typeof callContextSchema>

function isSubjectRoot(text: string): text is keyof typeof serviceBySubjectRoot {
  return Object.hasOwn(serviceBySubjectRoot, text)
}
