import { AddressRefusedError } from '@pitboss/outbound/guarded-agent'

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve at the moment',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connecting timed out',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within 5 s',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'no complete answer in time',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: 'the answer has too many headers',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: a certificate of the chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is for another name',
}

/** Says in words for its owner why a receiver was not reached. Never names addresses or internal names. */
export function describeFailure(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof AddressRefusedError) return 'the address is private or reserved and is not called'
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    const known = words[code]
    if (known !== undefined) return known
    if (code.startsWith('HPE_') || cause.name === 'HTTPParserError') return 'the answer is not HTTP'
    if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'TLS: no agreement with the receiver'
    if (cause instanceof AggregateError && cause.errors.length > 0) return describeFailure(cause.errors[0])
  }
  return 'the request failed'
}
