import type { ErrorDetail, ErrorResource } from '@pitboss/errors/service-error'
import { isErrorCode } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { notStarted, shedByCallee } from './call-failure.ts'

/** Header names of calls and their answers. The two `Nats-Service-*` are the micro protocol's (ADR-32). */
export const callHeaders = {
  requestId: 'X-Request-Id',
  traceparent: 'traceparent',
  deadline: 'X-Deadline',
  receivedAt: 'X-Received-At',
  error: 'Nats-Service-Error',
  errorCode: 'Nats-Service-Error-Code',
} as const

export const inboxRoot = '_INBOX.'
/**
 * Prefix that the server puts in the place of another account's inbox. It refuses clients that name such a
 * subject.
 */
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

/**
 * The part of a service error that crosses the wire: everything public and, of the cause, whether anything
 * was begun at all.
 */
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
