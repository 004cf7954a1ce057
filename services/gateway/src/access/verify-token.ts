import { setTimeout as delay } from 'node:timers/promises'
import {
  type TokenClaims,
  tokenAlgorithm,
  tokenClaimsSchema,
  tokenHeaderSchema,
  tokenTypes,
} from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { compactVerify, type CryptoKey, errors, importJWK } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'
import { parseOrNull } from '../input/parse-json.ts'

const tokenCharactersMax = 4096
const verifiedMax = 20_000
const futureToleranceS = 60
/** Least time between two loads for unknown key ids, so that forged ids cost auth next to nothing. */
const unknownKidEveryMs = 250
/** Tokens with an unknown key id that wait for the next load; honest ones are known before they are used. */
const unknownKidWaitersMax = 100
/** Changes that may overtake one load before we give up. */
const reloadsMax = 5

const jwkSchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string(),
  x: z.string(),
})

type Jwks = readonly Record<string, unknown>[]
type Keys = ReadonlyMap<string, CryptoKey>
type KeySet = ReturnType<typeof createKeySet>

/**
 * Creates a verifier that remembers verified tokens (bounded) and judges their expiry anew each time.
 * `loadKeys` asks for the public keys: when the first is needed, and again when an unknown id turns up.
 */
export function createTokenVerifier({
  loadKeys,
  logger,
  nowMs,
}: {
  loadKeys: () => Promise<Jwks>
  logger: Logger
  nowMs: () => number
}) {
  const keySet = createKeySet(loadKeys, logger)
  const verified = new BoundedMap<string, TokenClaims>(verifiedMax)
  let generation = 0

  return {
    /**
     * The claims of a token whose signature, form, issuer and type hold and which has not expired.
     * @throws ServiceError INVALID_CREDENTIALS, TOKEN_EXPIRED (only when all else holds), SERVICE_UNAVAILABLE
     * when the key it names cannot be looked up.
     */
    async verify(token: string): Promise<TokenClaims> {
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
    /** Forgets keys and verifications; called when the keys may have changed. */
    forget(): void {
      keySet.changed()
      generation += 1
      verified.clear()
    },
  }
}

function createKeySet(load: () => Promise<Jwks>, logger: Logger) {
  let keys: Keys | null = null
  let loading: Promise<Keys> | null = null
  let generation = 0
  let loadedAtMs = Number.NEGATIVE_INFINITY
  let waiting = 0

  async function loadNow(): Promise<Keys> {
    for (let tried = 0; tried < reloadsMax; tried++) {
      const startedIn = generation
      const loaded = await importAll(await load(), logger)
      if (startedIn !== generation) continue
      keys = loaded
      loadedAtMs = performance.now()
      return loaded
    }
    throw new Error('the keys keep changing')
  }

  function loadOnce(): Promise<Keys> {
    loading ??= loadNow().finally(() => {
      loading = null
    })
    return loading
  }

  return {
    /** The public key with this id, or null when auth knows none. @throws when auth cannot be asked. */
    async find(kid: string): Promise<CryptoKey | null> {
      const known = (keys ?? (await loadOnce())).get(kid)
      if (known !== undefined) return known
      if (waiting >= unknownKidWaitersMax) throw new Error('too many tokens name unknown keys')
      waiting += 1
      try {
        const lastLoadAtMs = loadedAtMs
        await delay(Math.max(0, lastLoadAtMs + unknownKidEveryMs - performance.now()))
        const fresh = keys !== null && loadedAtMs !== lastLoadAtMs ? keys : await loadOnce()
        return fresh.get(kid) ?? null
      } finally {
        waiting -= 1
      }
    },
    /** Drops the known set, which the next use loads. */
    changed(): void {
      generation += 1
      keys = null
    },
  }
}

async function importAll(jwks: Jwks, logger: Logger): Promise<Keys> {
  const keys = new Map<string, CryptoKey>()
  for (const jwk of jwks) {
    const parsed = jwkSchema.safeParse(jwk)
    if (!parsed.success) {
      logger.warn({ kid: jwk.kid }, 'signing-key.not-usable')
      continue
    }
    const { kty, crv, x, kid } = parsed.data
    const key = await importJWK({ kty, crv, x }, 'EdDSA')
    if (!(key instanceof Uint8Array)) keys.set(kid, key)
  }
  return keys
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

function invalid(cause: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { message: 'The token did not verify.', cause })
}
