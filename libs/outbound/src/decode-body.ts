import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'

/** A decoded body; `cutOff` when there is more of it than asked for. Null when it is not what it says. */
export type DecodedBody = { readonly bytes: Buffer; readonly cutOff: boolean } | null

/** Encodings that one answer may be wrapped in, one around the other. */
const encodingsMax = 3

/**
 * The body as it was before it was encoded, for answers that are encoded although `identity` was asked for.
 * An encoding that nobody knows leaves it as it is. A body whose end is missing is decoded as far as it goes.
 * @param contentEncoding the header: gzip, deflate, br, or a list of them
 * @param bytesMax at most so many bytes are made
 */
export function decodeBody(
  body: Uint8Array,
  contentEncoding: string | string[] | undefined,
  bytesMax: number,
): DecodedBody {
  const encodings = encodingsOf(contentEncoding)
  let decoded: { bytes: Buffer; cutOff: boolean } = { bytes: Buffer.from(body), cutOff: false }
  for (const encoding of encodings.slice(-encodingsMax).toReversed()) {
    const next = decodeOnce(decoded.bytes, encoding, bytesMax)
    if (next === null) return null
    decoded = { ...next, cutOff: next.cutOff || decoded.cutOff }
  }
  return decoded
}

/** What is odd about the encoding of an answer, since none was asked for. */
export function encodingOddities(
  contentEncoding: string | string[] | undefined,
  decoded: DecodedBody,
): readonly ('encoded' | 'misencoded')[] {
  if (encodingsOf(contentEncoding).length === 0) return []
  return decoded === null ? ['misencoded'] : ['encoded']
}

function encodingsOf(contentEncoding: string | string[] | undefined): string[] {
  if (contentEncoding === undefined) return []
  return String(contentEncoding)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
}

function decodeOnce(bytes: Buffer, encoding: string, bytesMax: number): DecodedBody {
  try {
    return { bytes: decode(bytes, encoding, bytesMax), cutOff: false }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    return code === 'ERR_BUFFER_TOO_LARGE' ? { bytes: Buffer.alloc(0), cutOff: true } : null
  }
}

function decode(bytes: Buffer, encoding: string, bytesMax: number): Buffer {
  const options = { maxOutputLength: bytesMax, finishFlush: constants.Z_SYNC_FLUSH }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, options)
    case 'deflate':
      // Some leave out the header of zlib.
      return ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
    case 'br':
      return brotliDecompressSync(bytes, {
        maxOutputLength: bytesMax,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      })
    default:
      return bytes
  }
}
