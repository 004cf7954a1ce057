import { type ErrorDetail, type ErrorResource, ServiceError } from '@pitboss/errors/service-error'
import { isErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import { notStarted, shedByCallee } from './call-failure.ts'
import { randomUUID } from 'node:crypto'
import { type CallContext, callContextSchema } from '@pitboss/contracts/call'
import { newId, randomHex } from '@pitboss/runtime/new-id'
import { type MsgHdrs, headers, type PublishOptions } from 'nats'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'

/** Header names of calls and their answers. The two `Nats-Service-*` are the micro protocol's (ADR-32). */
export const callHeaders = {
  requestId: 'X-Request-Id',
  traceparent: 'traceparent',
  deadline: 'X-Deadline',
  /** The account for which the call is made, by its uuid. */
  account: 'X-Account',
  atOnce: 'X-At-Once',
  /** The call's id, by which its caller asks whether somebody works on it. */
  call: 'X-Call',
  /** The access token of the sender for whom the gateway asks. */
  token: 'X-Access-Token',
  error: 'Nats-Service-Error',
  errorCode: 'Nats-Service-Error-Code',
} as const

export const inboxRoot = '_INBOX.'
/** Put by the server in the place of another account's inbox; it refuses clients that name such a subject. */
export const answerRoot = '_R_.'

/** Replies go to inboxes only: else a caller could make a service "reply" into an event subject. */
export function isAnswerable(reply: string | undefined): boolean {
  return reply !== undefined && (reply.startsWith(inboxRoot) || reply.startsWith(answerRoot))
}

const wireErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  resource: z.object({ round_id: z.string().optional(), transaction_id: z.string() }).optional(),
  retryAfterS: z.number().optional(),
  notStarted: z.boolean().optional(),
})

/** The public parts of a service error and, of its cause, whether anything was begun at all. */
export function encodeServiceError(error: ServiceError): Uint8Array {
  return encodeJson({
    code: error.code,
    message: error.message,
    details: error.details,
    resource: error.resource,
    retryAfterS: error.retryAfterS,
    notStarted: error.cause === notStarted ? true : undefined,
  })
}

/** The callee's error as the caller throws it. Never throws; what cannot be read becomes INTERNAL_ERROR. */
export function decodeServiceError(data: Uint8Array): ServiceError {
  try {
    const wire = wireErrorSchema.parse(decodeJson(data))
    if (!isErrorCode(wire.code)) throw new Error(`the callee answered with an unknown code ${wire.code}`)
    const details: ErrorDetail[] | undefined = wire.details
    return new ServiceError(wire.code, {
      message: wire.message,
      ...(details === undefined ? {} : { details }),
      ...(wire.resource === undefined ? {} : { resource: toResource(wire.resource) }),
      ...(wire.retryAfterS === undefined ? {} : { retryAfterS: wire.retryAfterS }),
      ...(wire.notStarted === true ? { cause: shedByCallee } : {}),
    })
  } catch (cause) {
    return new ServiceError('INTERNAL_ERROR', { cause })
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** UTF-8 JSON. @throws TypeError for a bigint: amounts cross the wire as decimal strings. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value))
}

/** @throws SyntaxError or TypeError for anything that is not UTF-8 JSON. */
export function decodeJson(data: Uint8Array): unknown {
  return JSON.parse(decoder.decode(data))
}

function toResource(wire: { round_id?: string | undefined; transaction_id: string }): ErrorResource {
  const { round_id, transaction_id } = wire
  return round_id === undefined ? { transaction_id } : { round_id, transaction_id }
}

const pattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/

/**
 * The W3C `traceparent` to send with a call made on behalf of `parent`: the same trace with a span id of its
 * own, or a new trace, which nobody records, when there is no usable parent. Never throws.
 */
export function childTraceparent(parent: string | undefined): string {
  const known = parent === undefined ? null : pattern.exec(parent)
  const spanId = randomHex()
  if (known === null) return `00-${randomUUID().replaceAll('-', '')}-${spanId}-00`
  return `00-${known[1]}-${spanId}-${known[2]}`
}

/**
 * The context of a received call. A missing or unreadable header is replaced: the request id by a new one,
 * the deadline by `nowMs + budgetMs`, which also is the latest that counts. Never throws.
 */
export function readCallContext(
  head: MsgHdrs | undefined,
  budgetMs: number,
  nowMs: number,
): CallContext & { deadlineAtMs: number } {
  const { requestId, traceparent, deadlineAtMs } = callContextSchema.shape
  const id = requestId.safeParse(head?.get(callHeaders.requestId))
  const trace = traceparent.safeParse(head?.get(callHeaders.traceparent))
  const deadline = deadlineAtMs.safeParse(Number(head?.get(callHeaders.deadline) || Number.NaN))
  return {
    requestId: id.success ? id.data : newId('req'),
    ...(trace.success && trace.data !== undefined ? { traceparent: trace.data } : {}),
    ...(head?.get(callHeaders.atOnce) === '1' ? { atOnce: true } : {}),
    deadlineAtMs: Math.min(deadline.data ?? Infinity, nowMs + budgetMs),
  }
}

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** Below it a reply goes as it is; NATS takes a message of 1 MiB unless configured otherwise. */
const packedFromBytes = 256 * 1024
/** A reply that unpacks to more is not one of ours. */
const unpackedBytesMax = 64 * 1024 * 1024
const encodingHeader = 'Content-Encoding'

/** An answer as it goes over the wire, large ones compressed. */
export async function replyOf(reply: Uint8Array): Promise<{ data: Uint8Array; options?: PublishOptions }> {
  if (reply.length < packedFromBytes) return { data: reply }
  const head = headers()
  head.set(encodingHeader, 'gzip')
  return { data: await pack(reply, { level: constants.Z_BEST_SPEED }), options: { headers: head } }
}

/** The reply as it was before `replyOf`. @throws Error for what does not unpack within 64 MiB. */
export async function readReply(message: { data: Uint8Array; headers?: MsgHdrs }): Promise<Uint8Array> {
  if (message.headers?.get(encodingHeader) !== 'gzip') return message.data
  return unpack(message.data, { maxOutputLength: unpackedBytesMax })
}

/** The account of a request, by its uuid; null for operations and people who have not signed in yet. */
export function accountOf(request: unknown): string | null {
  const operatorId = fieldOf(fieldOf(fieldOf(request, 'caller') ?? request, 'scope') ?? request, 'operatorId')
  return typeof operatorId === 'string' ? operatorId : null
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
