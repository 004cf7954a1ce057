import {
  type TokenClaims,
  tokenAlgorithm,
  tokenClaimsSchema,
  tokenHeaderSchema,
  tokenTypes,
} from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { compactVerify, type CryptoKey, errors } from 'jose'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { KeySet } from './key-set.ts'

const tokenCharactersMax = 4096
const verifiedMax = 20_000
const futureToleranceS = 60

export type TokenVerifier = {
  /**
   * The claims of a token whose signature, form, issuer and type hold and which has not expired.
   * @throws ServiceError INVALID_CREDENTIALS, TOKEN_EXPIRED (only when all else holds), SERVICE_UNAVAILABLE
   * when the key it names cannot be looked up.
   */
  verify(token: string): Promise<TokenClaims>
  /** Forgets every verification; called when the keys may have changed. */
  forget(): void
}

/** Creates a verifier that remembers verified tokens (bounded) and judges their expiry anew each time. */
export function createTokenVerifier({
  keySet,
  nowMs,
}: {
  keySet: KeySet
  nowMs: () => number
}): TokenVerifier {
  const verified = new BoundedMap<string, TokenClaims>(verifiedMax)
  let generation = 0

  return {
    async verify(token) {
      const known = verified.get(token)
      const startedIn = generation
      const claims = known ?? (await verifyAnew(token, keySet, nowMs))
      if (claims.exp * 1000 <= nowMs()) {
        verified.delete(token)
        throw new ServiceError('TOKEN_EXPIRED')
      }
      if (known === undefined && startedIn === generation) verified.set(token, claims)
      return claims
    },
    forget() {
      generation += 1
      verified.clear()
    },
  }
}

async function verifyAnew(token: string, keySet: KeySet, nowMs: () => number): Promise<TokenClaims> {
  const { kid, typ } = readHeader(token)
  const key = await findKey(keySet, kid)
  if (key === null) throw invalid('unknown key')
  const payload = await verifySignature(token, key)
  const claims = tokenClaimsSchema.safeParse(parseOrNull(payload))
  if (!claims.success) throw invalid('claims')
  const { aud, iat, exp } = claims.data
  if (typ !== tokenTypes[aud]) throw invalid('type')
  if (iat > nowMs() / 1000 + futureToleranceS || exp <= iat) throw invalid('times')
  return claims.data
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

async function findKey(keySet: KeySet, kid: string): Promise<CryptoKey | null> {
  try {
    return await keySet.find(kid)
  } catch (cause) {
    throw new ServiceError('SERVICE_UNAVAILABLE', {
      message: 'Tokens cannot be verified at the moment.',
      retryAfterS: 1,
      cause,
    })
  }
}

async function verifySignature(token: string, key: CryptoKey): Promise<Uint8Array> {
  try {
    return (await compactVerify(token, key, { algorithms: [tokenAlgorithm] })).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalid(error.code)
    throw error
  }
}

function parseOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}

function invalid(cause: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { message: 'The token did not verify.', cause })
}
