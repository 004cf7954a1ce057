import { setTimeout as delay } from 'node:timers/promises'
import { type CryptoKey, importJWK } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'

/** Least time between two loads for unknown key ids, so that forged ids cost auth next to nothing. */
const unknownKidEveryMs = 250
/** Tokens with an unknown key id that wait for the next load; honest ones are known before they are used. */
const unknownKidWaitersMax = 100
/** Changes that may overtake one load before we give up. */
const reloadsMax = 5
/** Least time between two loads because of the keys' age. */
const refreshEveryMs = 1000

const jwkSchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string(),
  x: z.string(),
})

export type Jwks = readonly Record<string, unknown>[]
type Keys = ReadonlyMap<string, CryptoKey>
export type KeySet = ReturnType<typeof createKeySet>

/** The public keys of tokens, loaded again beside the work past `maxAgeMs`; until then the old ones go on. */
export function createKeySet({
  load,
  logger,
  nowMs,
  maxAgeMs,
}: {
  load: () => Promise<Jwks>
  logger: Pick<Logger, 'warn'>
  nowMs: () => number
  maxAgeMs: number
}) {
  let keys: Keys | null = null
  let loading: Promise<Keys> | null = null
  let generation = 0
  let loadedAtMs = Number.NEGATIVE_INFINITY
  let loadedAtClockMs = Number.NEGATIVE_INFINITY
  let refreshedAtMs = Number.NEGATIVE_INFINITY
  let waiting = 0

  async function loadNow(): Promise<Keys> {
    for (let tried = 0; tried < reloadsMax; tried++) {
      const startedIn = generation
      const loaded = await importAll(await load(), logger)
      if (startedIn !== generation) continue
      keys = loaded
      loadedAtMs = performance.now()
      loadedAtClockMs = nowMs()
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

  function refreshOld(): void {
    if (keys === null || loading !== null || nowMs() - loadedAtClockMs <= maxAgeMs) return
    if (nowMs() - refreshedAtMs < refreshEveryMs) return
    refreshedAtMs = nowMs()
    loadOnce().catch((err: unknown) => logger.warn({ err }, 'signing-keys.not-refreshed'))
  }

  return {
    /** Whether the key is among those loaded last. */
    has(kid: string): boolean {
      refreshOld()
      return keys?.has(kid) ?? false
    },
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

async function importAll(jwks: Jwks, logger: Pick<Logger, 'warn'>): Promise<Keys> {
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
