import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { toErrorEnvelope, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'

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
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
