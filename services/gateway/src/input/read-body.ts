import type { IncomingMessage } from 'node:http'
import { invalidField } from '@pitboss/errors/service-error'
import { singleHeader } from './single-header.ts'

/** How much of a body that is too large is swallowed so that its sender can read the answer. */
const swallowBytesMax = 4 * 1024 * 1024

/** Whether the request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0)
}

/**
 * Reads a request's body of at most `bytesMax` within `timeoutMs`. An empty one is a buffer of length 0.
 * @throws ServiceError VALIDATION_ERROR path `body`: too large, too slow or broken off.
 */
export async function readBody(
  request: IncomingMessage,
  { bytesMax, timeoutMs }: { bytesMax: number; timeoutMs: number },
): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  let size = 0
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    request.destroy()
  }, timeoutMs)
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('a body must be read as bytes')
      size += chunk.length
      if (size <= bytesMax) chunks.push(chunk)
      else chunks.length = 0
      if (size > swallowBytesMax) break
    }
  } catch (cause) {
    if (cause instanceof TypeError) throw cause
    throw invalidField('body', timedOut ? 'took too long to arrive' : 'was broken off')
  } finally {
    clearTimeout(timer)
  }
  if (size > bytesMax) throw invalidField('body', `must not be larger than ${bytesMax} bytes`)
  return Buffer.concat(chunks, size)
}

/**
 * Checks that the body is declared as plain JSON in UTF-8.
 * @throws ServiceError VALIDATION_ERROR path `content-type` or `content-encoding`.
 */
export function requireJsonContent(request: IncomingMessage): void {
  const type = singleHeader(request, 'content-type')
  if (type === null || !/^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i.test(type)) {
    throw invalidField('content-type', 'must be application/json')
  }
  requirePlainEncoding(request)
}

/** @throws ServiceError VALIDATION_ERROR path `content-encoding`: compressed bodies are not taken. */
export function requirePlainEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw invalidField('content-encoding', 'must be absent: compressed bodies are not taken')
  }
}
