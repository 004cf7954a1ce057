import type { IncomingMessage } from 'node:http'
import { invalidField } from '@pitboss/errors/service-error'
import type { LedgerFormat } from '@pitboss/ledger/ledger-lines'
import { singleHeader } from './headers.ts'
import { requirePlainEncoding } from './read-body.ts'

/** A ledger that sends nothing for so long is given up. */
const silenceMs = 30_000

/**
 * The format of a ledger that is sent.
 * @throws ServiceError VALIDATION_ERROR path `content-type` or `content-encoding`
 */
export function ledgerFormat(request: IncomingMessage): LedgerFormat {
  const type = singleHeader(request, 'content-type')?.split(';')[0]?.trim().toLowerCase()
  const isJsonLines = /^application\/(x-ndjson|ndjson|jsonl|x-jsonlines)$/.test(type ?? '')
  if (type !== 'text/csv' && !isJsonLines)
    throw invalidField('content-type', 'must be application/x-ndjson or text/csv')
  requirePlainEncoding(request)
  return isJsonLines ? 'json-lines' : 'csv'
}

/**
 * The chunks of a request's body. @throws ServiceError VALIDATION_ERROR when it breaks off, is silent for
 * 30 s, or is too large; the reason of the signal once it is aborted
 */
export async function* ledgerChunks(
  request: IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false })
  let bytes = 0
  for (;;) {
    const next = await withinSilence(
      chunks.next().catch(() => 'broken-off' as const),
      signal,
    )
    signal.throwIfAborted()
    if (next === 'broken-off') throw invalidField('body', 'was broken off')
    if (next === 'silent') throw invalidField('body', `nothing more came for ${silenceMs / 1000} s`)
    if (next === 'aborted' || next.done === true) return
    if (!Buffer.isBuffer(next.value)) continue
    bytes += next.value.length
    if (bytes > bytesMax) throw invalidField('body', `must not be larger than ${bytesMax} bytes`)
    yield next.value
  }
}

function withinSilence<Value>(
  value: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | 'silent' | 'aborted'> {
  const { promise, resolve } = Promise.withResolvers<'silent' | 'aborted'>()
  const timer = setTimeout(() => resolve('silent'), silenceMs)
  const abort = () => resolve('aborted')
  signal.addEventListener('abort', abort)
  return Promise.race([value, promise]).finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  })
}
