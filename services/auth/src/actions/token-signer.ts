import { randomUUID } from 'node:crypto'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { passedOnJti, tokenTypes } from '@pitboss/contracts/token-claims'
import type { Clock } from '@pitboss/runtime/clock'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import { type CryptoKey, CompactSign, SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose'
import { z } from 'zod'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { SigningKeyDocument } from '../storage/signing-keys-store.ts'

/** The longest life of a token: a session of 24 h, 30 minutes to finish a round, and a minute to spare. */
const longestTokenS = 86_400 + 1800 + 60
const reloadAfterMs = 1000
const jwk = z.record(z.string(), z.unknown())

type Audience = keyof typeof tokenTypes
export type TokenSubject = {
  audience: Audience
  subject: string
  operatorId: string
  mode: 'TEST' | 'LIVE'
  scopes: readonly string[]
  expiresAtS: number
  /** The session of a person. */
  sessionId?: string
}

/**
 * Signs tokens with the current Ed25519 key; makes a key when there is none.
 * Source: docs/contract.md, section 3.
 */
export function createTokenSigner({
  stores: { signingKeys },
  box,
  clock,
  edgeTokens = 'bound',
}: {
  stores: AuthStores
  box: SecretBox
  clock: Clock
  /** `plain` tokens hold none to be passed on, as older gateways need it. */
  edgeTokens?: 'bound' | 'plain'
}) {
  let cached: { kid: string; key: CryptoKey | Uint8Array; loadedAtMs: number } | null = null

  const openPrivate = ({ _id, sealedPrivateJwk }: SigningKeyDocument) =>
    jwk.parse(JSON.parse(box.open(sealedPrivateJwk, `signing-key/${_id}`)))

  /**
   * Whether the sealed key, which the master key made, has this public half: a row that was added has not.
   */
  function isGenuine(key: SigningKeyDocument): boolean {
    try {
      return openPrivate(key).x === key.publicJwk.x && key.publicJwk.kid === key._id
    } catch {
      return false
    }
  }

  async function currentKey() {
    const nowMs = clock.now().getTime()
    if (cached !== null && nowMs - cached.loadedAtMs < reloadAfterMs) return cached
    const found = (await signingKeys.current()) ?? (await makeKey())
    if (cached?.kid === found._id) {
      cached = { ...cached, loadedAtMs: nowMs }
      return cached
    }
    const privateJwk = openPrivate(found)
    cached = { kid: found._id, key: await importJWK(privateJwk, 'EdDSA'), loadedAtMs: nowMs }
    return cached
  }

  /** Makes a current key, or answers the one that another replica made first. */
  async function makeKey(audit: AuditEntry | null = null): Promise<SigningKeyDocument> {
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const kid = randomUUID()
    return signingKeys.insertCurrent({
      _id: kid,
      current: true,
      publicJwk: { ...(await exportJWK(pair.publicKey)), kid, alg: 'EdDSA', use: 'sig' },
      sealedPrivateJwk: box.seal(JSON.stringify(await exportJWK(pair.privateKey)), `signing-key/${kid}`),
      createdAt: clock.now(),
      retiresAt: null,
      ...(audit === null ? {} : auditedInsert(audit)),
    })
  }

  async function signClaims(
    { audience, subject, operatorId, mode, scopes, expiresAtS, sessionId }: TokenSubject,
    { jti, fwd }: { jti: string; fwd?: string },
  ): Promise<string> {
    const { kid, key } = await currentKey()
    return await new SignJWT({
      ...{ op: operatorId, mode, scp: [...scopes] },
      ...(sessionId === undefined ? {} : { sid: sessionId }),
      ...(fwd === undefined ? {} : { fwd }),
    })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: tokenTypes[audience] })
      .setIssuer('pitboss')
      .setAudience(audience)
      .setSubject(subject)
      .setIssuedAt(Math.floor(clock.now().getTime() / 1000))
      .setExpirationTime(expiresAtS)
      .setJti(jti)
      .sign(key)
  }

  return {
    /**
     * Signs a token of the edge. It holds the token that the gateway passes on in its place, so that what
     * services get and hear opens nothing at the edge.
     */
    async sign(subject: TokenSubject): Promise<string> {
      if (edgeTokens === 'plain') return signClaims(subject, { jti: randomUUID() })
      const fwd = await signClaims(subject, { jti: passedOnJti(randomUUID()) })
      return signClaims(subject, { jti: randomUUID(), fwd })
    },

    /** Signs the bytes of `text` as a compact JWS of type `typ`. */
    async signDocument(typ: string, text: string): Promise<string> {
      const { kid, key } = await currentKey()
      const bytes = new TextEncoder().encode(text)
      return await new CompactSign(bytes).setProtectedHeader({ alg: 'EdDSA', kid, typ }).sign(key)
    },

    /** Lists the genuine keys whose records verify: also those whose tokens do not any more. */
    async recordKeys(): Promise<SigningKeyDocument[]> {
      await currentKey()
      return (await signingKeys.notWithdrawn()).filter(isGenuine)
    },

    /** Lists the genuine keys that verify, the current one first. */
    async keys(): Promise<SigningKeyDocument[]> {
      await currentKey()
      const now = clock.now()
      const known = await signingKeys.newest()
      return known.filter(
        (key) =>
          key.withdrawnAt === undefined && (key.retiresAt === null || key.retiresAt > now) && isGenuine(key),
      )
    },

    /**
     * Makes a new current key. The old key verifies until the last token that it can have signed has expired.
     * After a crash between both writes the next signature makes the new key.
     */
    async rotate(audit: AuditEntry): Promise<void> {
      const retiresAt = new Date(clock.now().getTime() + longestTokenS * 1000)
      const isRetired = await signingKeys.retireCurrent(retiresAt, audit)
      cached = null
      await makeKey(isRetired ? null : audit)
    },

    /**
     * Ends a key, so that no token of it verifies, and makes a new current key if it was the current one.
     * Another replica signs with it for a second more. False when there is none of this id.
     */
    async withdraw(kid: string, audit: AuditEntry): Promise<boolean> {
      const found = await signingKeys.withdraw(kid, clock.now(), audit)
      cached = null
      if (found) await currentKey()
      return found
    },
  }
}
export type TokenSigner = ReturnType<typeof createTokenSigner>
