/** What went wrong in a few words, and what its owner can do. Neither names addresses or internal names. */
export type Failure = { readonly words: string; readonly remedy: string }

const isNotThere = 'Check the address, and that the server runs and lets us in.'
const breaksOff =
  'Look into the log of the server, and of the proxy before it, for why it closed the connection.'
const isLate = 'Answer faster, and end the answer: a body without its end is no answer.'
const tls = 'Install a certificate for this name, with its chain, of an authority that everybody trusts.'
const framing = 'Send one Content-Length with the number of bytes of the body, or Transfer-Encoding: chunked.'
const http =
  'Let a server of HTTP/1.1 answer at this address and port, and nothing else write to the connection.'

const failures: Readonly<Record<string, Failure>> = {
  ADDRESS_REFUSED: {
    words: 'the address is private or reserved and is not called',
    remedy: 'Name an address that can be reached from the internet.',
  },
  ECONNREFUSED: { words: 'connection refused', remedy: isNotThere },
  ECONNRESET: { words: 'connection reset', remedy: breaksOff },
  EPIPE: { words: 'connection reset', remedy: breaksOff },
  ENOTFOUND: { words: 'the name does not resolve', remedy: 'Check the name in the address, and its DNS.' },
  EAI_AGAIN: { words: 'the name does not resolve at the moment', remedy: 'Check the DNS of the name.' },
  EHOSTUNREACH: { words: 'host unreachable', remedy: isNotThere },
  ENETUNREACH: { words: 'network unreachable', remedy: isNotThere },
  ETIMEDOUT: { words: 'connecting timed out', remedy: isNotThere },
  UND_ERR_CONNECT_TIMEOUT: { words: 'no connection within 5 s', remedy: isNotThere },
  UND_ERR_HEADERS_TIMEOUT: { words: 'no answer in time', remedy: isLate },
  UND_ERR_BODY_TIMEOUT: { words: 'no complete answer in time', remedy: isLate },
  UND_ERR_SOCKET: { words: 'connection closed before the answer was complete', remedy: breaksOff },
  UND_ERR_HEADERS_OVERFLOW: {
    words: 'the answer has too many headers',
    remedy: 'Send at most 16 KiB of headers.',
  },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    words: 'the length of the answer is not the one that its content-length says',
    remedy: framing,
  },
  // How undici and Node's own client assert that a status is one of HTTP's, and that nobody switches
  // protocols.
  ERR_ASSERTION: { words: 'the answer has a status that no answer can have', remedy: http },
  HPE_INVALID_STATUS: { words: 'the answer has a status that no answer can have', remedy: http },
  HPE_UNEXPECTED_CONTENT_LENGTH: {
    words: 'the answer says its length twice, and differently',
    remedy: framing,
  },
  HPE_INVALID_CONTENT_LENGTH: { words: 'the length of the answer is no number', remedy: framing },
  CERT_HAS_EXPIRED: { words: 'TLS: the certificate has expired', remedy: tls },
  DEPTH_ZERO_SELF_SIGNED_CERT: { words: 'TLS: the certificate is self-signed', remedy: tls },
  SELF_SIGNED_CERT_IN_CHAIN: { words: 'TLS: a certificate of the chain is self-signed', remedy: tls },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { words: 'TLS: the certificate cannot be verified', remedy: tls },
  ERR_TLS_CERT_ALTNAME_INVALID: { words: 'TLS: the certificate is for another name', remedy: tls },
}

/** Names an error's code in words; null for one that nobody knows. */
export function failureOfCode(code: string): Failure | null {
  const known = failures[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return { words: 'the answer is not HTTP', remedy: http }
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS'))
    return { words: 'TLS: no agreement with the other side', remedy: tls }
  return null
}

/** Says why an exchange failed, for whoever owns the other side. */
export function failureOf(error: unknown): Failure {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    // undici gives its parser's errors no code.
    const known = failureOfCode(cause.name === 'HTTPParserError' && code === '' ? 'HPE_' : code)
    if (known !== null) return known
    if (cause instanceof AggregateError && cause.errors.length > 0) return failureOf(cause.errors[0])
  }
  return { words: 'the request failed', remedy: isNotThere }
}

/** An exchange whose time is over. @param begunWith the status of an answer whose body did not end */
export function lateFailure(timeoutMs: number, begunWith: number | null): Failure {
  const words = `no complete answer within ${timeoutMs} ms`
  if (begunWith === null) return { words, remedy: isLate }
  return { words: `${words}: HTTP ${begunWith} came, and its body did not end`, remedy: isLate }
}

/** An answer of more than 64 KiB, which is not read. */
export const tooLong: Failure = {
  words: 'the answer exceeds 64 KiB',
  remedy:
    'Answer with the few fields of the contract; also what comes encoded has at most 64 KiB without its encoding.',
}
