import { setTimeout as delay } from 'node:timers/promises'
import { type CryptoKey, importJWK } from 'jose'
import type { Logger } from 'pino'
import { z } from 'zod'

/** Least time between two loads for unknown key ids, so that forged ids cost auth next to nothing. */
const unknownKidEveryMs = 250
/** Changes that may overtake one load before we give up. */
const reloadsMax = 5

const jwkSchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string(),
  x: z.string(),
})

export type KeySet = {
  /** The public key with this id, or null when auth knows none. @throws when auth cannot be asked. */
  find(kid: string): Promise<CryptoKey | null>
  /** Drops the known set, which the next use loads; called when the keys may have changed. */
  changed(): void
}

/** Public token keys, loaded when needed and again when an unknown id turns up. */
export function createKeySet({
  load,
  logger,
}: {
  load: () => Promise<readonly Record<string, unknown>[]>
  logger: Logger
}): KeySet {
  let keys: ReadonlyMap<string, CryptoKey> | null = null
  let loading: Promise<ReadonlyMap<string, CryptoKey>> | null = null
  let generation = 0
  let loadedAtMs = Number.NEGATIVE_INFINITY

  async function loadNow(): Promise<ReadonlyMap<string, CryptoKey>> {
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

  function loadOnce(): Promise<ReadonlyMap<string, CryptoKey>> {
    loading ??= loadNow().finally(() => {
      loading = null
    })
    return loading
  }

  return {
    async find(kid) {
      const known = (keys ?? (await loadOnce())).get(kid)
      if (known !== undefined) return known
      const lastLoadAtMs = loadedAtMs
      await delay(Math.max(0, lastLoadAtMs + unknownKidEveryMs - performance.now()))
      const fresh = keys !== null && loadedAtMs !== lastLoadAtMs ? keys : await loadOnce()
      return fresh.get(kid) ?? null
    },
    changed() {
      generation += 1
      keys = null
    },
  }
}

async function importAll(
  jwks: readonly Record<string, unknown>[],
  logger: Logger,
): Promise<ReadonlyMap<string, CryptoKey>> {
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
