import type { IncomingMessage } from 'node:http'
import { newId } from '@pitboss/runtime/new-id'

const requestIdPattern = /^[A-Za-z0-9_-]{1,64}$/
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The value of a header that may be sent once; null when it is absent or was sent more than once (which Node
 * would join or cut silently). `name` in lower case.
 */
export function singleHeader(request: IncomingMessage, name: string): string | null {
  const values = request.headersDistinct[name]
  return values?.length === 1 ? (values[0] ?? null) : null
}

/** Whether the header was sent more than once. */
export function isRepeatedHeader(request: IncomingMessage, name: string): boolean {
  return (request.headersDistinct[name]?.length ?? 0) > 1
}

/**
 * The caller's own `x-request-id` when it has the right form, else a new one. Source: docs/contract.md,
 * section 1.
 */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const own = request.headers['x-request-id']
  return typeof own === 'string' && requestIdPattern.test(own) ? own : newId('req')
}

/** The caller's W3C trace context; undefined for none or a malformed one. */
export function traceparentOf(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const own = request.headers.traceparent
  return typeof own === 'string' && traceparentPattern.test(own) ? own : undefined
}
