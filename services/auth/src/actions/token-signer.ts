import { randomUUID } from 'node:crypto'
import { tokenTypes } from '@pitboss/contracts/token-claims'
import type { Clock } from '@pitboss/runtime/clock'
import type { SecretBox } from '@pitboss/storage/secret-box'
import { type CryptoKey, CompactSign, SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose'
import { z } from 'zod'
import type { AuthCollections } from '../storage/collections.ts'
import type { SigningKeyDocument } from '../storage/documents.ts'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'

/** Longest life of any token: a session of 24 h and 30 minutes to finish a round. */
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
}

/** Signs tokens with the current Ed25519 key; makes the first key when there is none. Source: contract section 3. */
export function createTokenSigner({
  collections,
  box,
  clock,
}: {
  collections: AuthCollections
  box: SecretBox
  clock: Clock
}) {
  const { signingKeys } = collections
  let cached: { kid: string; key: CryptoKey | Uint8Array; loadedAtMs: number } | null = null

  async function currentKey() {
    const nowMs = clock.now().getTime()
    if (cached !== null && nowMs - cached.loadedAtMs < reloadAfterMs) return cached
    const found = (await signingKeys.findOne({ current: true })) ?? (await makeKey())
    if (cached?.kid === found._id) {
      cached = { ...cached, loadedAtMs: nowMs }
      return cached
    }
    const privateJwk = jwk.parse(JSON.parse(box.open(found.sealedPrivateJwk, `signing-key/${found._id}`)))
    cached = { kid: found._id, key: await importJWK(privateJwk, 'EdDSA'), loadedAtMs: nowMs }
    return cached
  }

  /** Inserts a current key; when another replica was faster, answers with its key. */
  async function makeKey(): Promise<SigningKeyDocument> {
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const kid = randomUUID()
    const document: SigningKeyDocument = {
      _id: kid,
      current: true,
      publicJwk: { ...(await exportJWK(pair.publicKey)), kid, alg: 'EdDSA', use: 'sig' },
      sealedPrivateJwk: box.seal(JSON.stringify(await exportJWK(pair.privateKey)), `signing-key/${kid}`),
      createdAt: clock.now(),
      retiresAt: null,
    }
    try {
      await signingKeys.insertOne(document)
      return document
    } catch (error) {
      const other = isDuplicateKey(error) ? await signingKeys.findOne({ current: true }) : null
      if (other === null) throw error
      return other
    }
  }

  return {
    async sign({ audience, subject, operatorId, mode, scopes, expiresAtS }: TokenSubject): Promise<string> {
      const { kid, key } = await currentKey()
      return await new SignJWT({ op: operatorId, mode, scp: [...scopes] })
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: tokenTypes[audience] })
        .setIssuer('pitboss')
        .setAudience(audience)
        .setSubject(subject)
        .setIssuedAt(Math.floor(clock.now().getTime() / 1000))
        .setExpirationTime(expiresAtS)
        .setJti(randomUUID())
        .sign(key)
    },
    async signDocument(typ: string, payload: Record<string, unknown>): Promise<string> {
      const { kid, key } = await currentKey()
      const bytes = new TextEncoder().encode(JSON.stringify(payload))
      return await new CompactSign(bytes).setProtectedHeader({ alg: 'EdDSA', kid, typ }).sign(key)
    },
    /** Keys that still verify, the current one first. */
    async keys(): Promise<SigningKeyDocument[]> {
      await currentKey()
      const now = clock.now()
      const all = await signingKeys.find({}).sort({ createdAt: -1 }).limit(100).toArray()
      return all.filter(({ retiresAt }) => retiresAt === null || retiresAt > now)
    },
    /** The old key verifies until the last token that it can have signed has expired. A crash in between is healed by the next signature. */
    async rotate(): Promise<void> {
      const retiresAt = new Date(clock.now().getTime() + longestTokenS * 1000)
      await signingKeys.updateMany({ current: true }, { $set: { current: false, retiresAt } })
      cached = null
      await makeKey()
    },
  }
}
export type TokenSigner = ReturnType<typeof createTokenSigner>
