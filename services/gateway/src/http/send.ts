import type { IncomingMessage } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { invalidField, ServiceError, toErrorEnvelope } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'
import type { FastifyReply } from 'fastify'
import type { Answer } from './inbound.ts'

const jsonType = 'application/json; charset=utf-8'

/** Headers of every answer; pages bring their own policy. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

/**
 * Sent besides where the base url is https: browsers come by https alone for a year, to the hosts below it
 * as well where `subdomains`. RFC 6797.
 */
export function httpsHeaders(subdomains: boolean): Readonly<Record<string, string>> {
  return { 'strict-transport-security': `max-age=31536000${subdomains ? '; includeSubDomains' : ''}` }
}

/** Longest time for the rest of an unread body; then its connection is cut. */
const unreadBodyMs = 10_000

export function sendAnswer(reply: FastifyReply, answer: Answer): void {
  const data = answer.content?.data
  // An answer that streams may still read the request's body.
  if (data instanceof Readable) data.once('close', () => finishUnreadBody(reply))
  else finishUnreadBody(reply)
  reply.code(answer.status)
  if (answer.headers !== undefined) reply.headers(answer.headers)
  if (answer.cookies !== undefined) reply.header('set-cookie', [...answer.cookies])
  if (answer.content !== undefined) {
    reply.header('content-type', answer.content.type).send(answer.content.data)
  } else if (answer.json === undefined) reply.send()
  else reply.header('content-type', jsonType).send(JSON.stringify(answer.json))
}

/** Renders an error as its envelope; anything but a ServiceError is INTERNAL_ERROR. */
export function errorAnswer(error: unknown, requestId: string): Answer {
  const envelope = toErrorEnvelope(error, requestId)
  const headers: Record<string, string> = {}
  if (envelope.code === 'RATE_LIMITED' || envelope.code === 'SERVICE_UNAVAILABLE') {
    const retryAfterS = error instanceof ServiceError ? error.retryAfterS : undefined
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterS ?? 1)))
  }
  const { status } = errorCatalogue[envelope.code]
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  return { status, headers, json: envelope }
}

/** Sets a deadline for a body that no handler will read. */
function finishUnreadBody(reply: FastifyReply): void {
  const request = reply.request.raw
  if (request.complete) return
  const timer = setTimeout(() => {
    if (!request.complete) request.destroy()
  }, unreadBodyMs)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

/**
 * Answers input that never became a request (bad HTTP, oversized headers, a time-out) in the envelope of
 * every error, and closes the connection. Source: docs/contract.md, section 11.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  writeError(socket, toServiceError(error.code), newId('req'))
}

/** Answers CONNECT with NOT_FOUND: no route is a tunnel. */
export function answerConnect(_request: IncomingMessage, socket: Duplex): void {
  writeError(socket, new ServiceError('NOT_FOUND'), newId('req'))
}

function toServiceError(code: string | undefined): ServiceError {
  if (code === 'HPE_HEADER_OVERFLOW') return invalidField('headers', 'are too large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return invalidField('request', 'took too long to arrive')
  return invalidField('request', 'must be HTTP')
}

function writeError(socket: Duplex, error: ServiceError, requestId: string): void {
  const body = JSON.stringify(toErrorEnvelope(error, requestId))
  const { status } = errorCatalogue[error.code]
  const head = [
    `HTTP/1.1 ${status} ${error.code}`,
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
