import {
  type TokenClaims,
  tokenAlgorithm,
  tokenClaimsSchema,
  tokenHeaderSchema,
  tokenTypes,
} from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { compactVerify, type CryptoKey, errors } from 'jose'
import type { Logger } from 'pino'
import { createKeySet, type Jwks, type KeySet } from './key-set.ts'
import { decodeJson } from './wire.ts'

const tokenCharactersMax = 4096
const futureToleranceS = 60

export type TokenVerifier = ReturnType<typeof createTokenVerifier>

/**
 * Creates a verifier that remembers at most `verifiedMax` tokens and judges their expiry, and whether their
 * key is still published, anew each time. `loadKeys` asks for the public keys: when the first is needed,
 * again when an unknown id turns up, and beside the work when they are older than `keysMaxAgeMs`.
 */
export function createTokenVerifier({
  loadKeys,
  logger,
  nowMs,
  verifiedMax,
  keysMaxAgeMs = Number.POSITIVE_INFINITY,
}: {
  loadKeys: () => Promise<Jwks>
  logger: Pick<Logger, 'warn'>
  nowMs: () => number
  verifiedMax: number
  keysMaxAgeMs?: number
}) {
  const keySet = createKeySet({ load: loadKeys, logger, nowMs, maxAgeMs: keysMaxAgeMs })
  const verified = new BoundedMap<string, Verified>(verifiedMax)
  let generation = 0

  return {
    /**
     * The claims of a token whose signature, form, issuer and type hold and which has not expired, or at most
     * `leewayS` seconds ago.
     * @throws ServiceError INVALID_CREDENTIALS, TOKEN_EXPIRED (only when all else holds), SERVICE_UNAVAILABLE
     * when the key it names cannot be looked up.
     */
    async verify(token: string, leewayS = 0): Promise<TokenClaims> {
      const remembered = verified.get(token)
      const known = remembered !== undefined && keySet.has(remembered.kid) ? remembered : undefined
      const startedIn = generation
      const found = known ?? (await verifyAnew(token, keySet, nowMs))
      if ((found.claims.exp + leewayS) * 1000 <= nowMs()) {
        verified.delete(token)
        throw new ServiceError('TOKEN_EXPIRED')
      }
      if (known === undefined && startedIn === generation) verified.set(token, found)
      return found.claims
    },
    /** Forgets keys and verifications; called when the keys may have changed. */
    forget(): void {
      keySet.changed()
      generation += 1
      verified.clear()
    },
  }
}

type Verified = { readonly claims: TokenClaims; readonly kid: string }

async function verifyAnew(token: string, keySet: KeySet, nowMs: () => number): Promise<Verified> {
  const { kid, typ } = readHeader(token)
  const key = await findKey(keySet, kid)
  if (key === null) throw invalid('unknown key')
  const payload = await verifySignature(token, key)
  const claims = tokenClaimsSchema.safeParse(parseOrNull(payload))
  if (!claims.success) throw invalid('claims')
  const { aud, iat, exp } = claims.data
  if (typ !== tokenTypes[aud]) throw invalid('type')
  if (iat > nowMs() / 1000 + futureToleranceS || exp <= iat) throw invalid('times')
  return { claims: claims.data, kid }
}

function readHeader(token: string): { kid: string; typ: string } {
  const parts = token.split('.')
  if (token.length > tokenCharactersMax || parts.length !== 3 || !parts.every(isCanonical))
    throw invalid('form')
  const header = tokenHeaderSchema.safeParse(parseOrNull(Buffer.from(parts[0] ?? '', 'base64url')))
  if (!header.success) throw invalid('header')
  return header.data
}

/** Takes one text for each byte string: else a changed last character could leave the signature intact. */
function isCanonical(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part
}

function findKey(keySet: KeySet, kid: string): Promise<CryptoKey | null> {
  return keySet.find(kid).catch((cause: unknown) => {
    const message = 'Tokens cannot be verified at the moment.'
    throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 1, cause })
  })
}

async function verifySignature(token: string, key: CryptoKey): Promise<Uint8Array> {
  try {
    return (await compactVerify(token, key, { algorithms: [tokenAlgorithm] })).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalid(error.code)
    throw error
  }
}

/** Null for anything that is not JSON. */
function parseOrNull(bytes: Uint8Array): unknown {
  try {
    return decodeJson(bytes)
  } catch {
    return null
  }
}

function invalid(cause: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { message: 'The token did not verify.', cause })
}
