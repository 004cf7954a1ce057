import type { IncomingMessage } from 'node:http'
import { invalidField, type ServiceError } from '@pitboss/errors/service-error'
import { singleHeader } from './headers.ts'

/** Bytes of an oversized body that are read and dropped, so that its sender can read the answer. */
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
  // A body that announces too much is answered at once; Node discards the rest.
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const chunks: Buffer[] = []
  let size = 0
  const problem = await new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => finish('took too long to arrive'), timeoutMs)
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= bytesMax) chunks.push(chunk)
      else chunks.length = 0
      if (size > swallowBytesMax) finish(null)
    }
    const onEnd = () => finish(null)
    const onBreak = () => finish('was broken off')
    const finish = (found: string | null) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onBreak)
      resolve(found)
    }
    request.on('data', onData).once('end', onEnd).once('error', onBreak).once('close', onBreak)
  })
  if (problem !== null) throw invalidField('body', problem)
  if (size > bytesMax) throw tooLarge(bytesMax)
  return Buffer.concat(chunks, size)
}

function tooLarge(bytesMax: number): ServiceError {
  return invalidField('body', `must not be larger than ${bytesMax} bytes`)
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
