import type { IncomingMessage } from 'node:http'

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
