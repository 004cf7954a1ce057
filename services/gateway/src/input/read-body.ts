import type { IncomingMessage } from 'node:http'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { singleHeader } from './headers.ts'

/** Bytes of an oversized body that are read and dropped, so that its sender can read the answer. */
const swallowBytesMax = 4 * 1024 * 1024

/** Whether the request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0)
}

/** Source: docs/contract.md, section 8. */
const bytesMax = 64 * 1024

export type BodyRules = {
  readonly timeoutMs: number
  /** Counts the body while it comes, and gives it up when newer ones need its place. */
  readonly begin: (giveUp: () => void) => () => void
}

/**
 * Reads a request's body of at most 64 KiB within `timeoutMs`. An empty one is a buffer of length 0.
 * @throws ServiceError VALIDATION_ERROR path `body`: too large, too slow or broken off; SERVICE_UNAVAILABLE
 * when it was given up for others.
 */
export async function readBody(request: IncomingMessage, { timeoutMs, begin }: BodyRules): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0)
  // A body that announces too much is answered at once; Node discards the rest.
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  const problem = await new Promise<ServiceError | null>((resolve) => {
    const timer = setTimeout(() => finish(invalidField('body', 'took too long to arrive')), timeoutMs)
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= bytesMax) chunks.push(chunk)
      else chunks.length = 0
      if (size > swallowBytesMax) finish(null)
    }
    const onEnd = () => finish(null)
    const onBreak = () => finish(invalidField('body', 'was broken off'))
    const finish = (found: ServiceError | null) => {
      clearTimeout(timer)
      end()
      request.off('data', onData).off('end', onEnd).off('close', onBreak)
      resolve(found)
    }
    const end = begin(() => finish(givenUp()))
    request.on('data', onData).once('end', onEnd).once('error', onBreak).once('close', onBreak)
  })
  if (problem !== null) throw problem
  if (size > bytesMax) throw tooLarge()
  return Buffer.concat(chunks, size)
}

function givenUp(): ServiceError {
  const message = 'Too many bodies are arriving; this one took too long.'
  return new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 1 })
}

function tooLarge(): ServiceError {
  return invalidField('body', `must not be larger than ${bytesMax} bytes`)
}

/**
 * Checks that the body is declared as plain JSON in UTF-8; other parameters of the type say nothing.
 * @throws ServiceError VALIDATION_ERROR path `content-type` or `content-encoding`.
 */
export function requireJsonContent(request: IncomingMessage): void {
  const type = singleHeader(request, 'content-type')
  if (type === null || !/^application\/json[ \t]*(;|$)/i.test(type))
    throw invalidField('content-type', 'must be application/json')
  const charsets = [...type.matchAll(/;[ \t]*charset=[ \t]*"?([^";\s]*)/gi)]
  if (!charsets.every(([, charset = '']) => /^utf-?8$/i.test(charset)))
    throw invalidField('content-type', 'must have the charset utf-8, or none')
  requirePlainEncoding(request)
}

/** @throws ServiceError VALIDATION_ERROR path `content-encoding`: compressed bodies are not taken. */
export function requirePlainEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw invalidField('content-encoding', 'must be absent: compressed bodies are not taken')
  }
}
