import { Readable } from 'node:stream'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { toErrorEnvelope, ServiceError } from '@pitboss/errors/service-error'
import type { FastifyReply } from 'fastify'
import type { Answer } from './inbound.ts'

const jsonType = 'application/json; charset=utf-8'

/** Headers of every answer; pages bring their own policy. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

/** Longest time for the rest of an unread body; then its connection is cut. */
const unreadBodyMs = 10_000

export function sendAnswer(reply: FastifyReply, answer: Answer): void {
  const data = answer.content?.data
  // An answer that streams may still read the request's body.
  if (data instanceof Readable) data.once('close', () => finishUnreadBody(reply))
  else finishUnreadBody(reply)
  reply.code(answer.status)
  if (answer.headers !== undefined) reply.headers(answer.headers)
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
