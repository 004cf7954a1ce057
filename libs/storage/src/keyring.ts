import { hkdfSync } from 'node:crypto'

const keyBytes = 32

export type Keyring = ReturnType<typeof parseKeyring>

/** Derived keys of master keys that were dropped, by key id and purpose. */
export type KeptKeys = ReadonlyMap<string, ReadonlyMap<string, Buffer>>

/**
 * Reads a service's master keys from `PITBOSS_MASTER_KEYS`: `kid:base64(32 bytes)`, comma separated. The
 * first is current; the others still open the secrets that they sealed. Every use derives its own key.
 * @param kept what still checks though its master key was dropped
 * @throws RangeError naming the position, never the key.
 */
export function parseKeyring(text: string, kept: KeptKeys = new Map()) {
  const masters = new Map<string, Buffer>()
  for (const [position, part] of text.split(',').entries()) {
    const match = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part.trim())
    const [, kid, encoded] = match ?? []
    if (kid === undefined || encoded === undefined) {
      throw new RangeError(`master key ${position + 1} must be kid:base64(32 bytes)`)
    }
    if (masters.has(kid)) throw new RangeError(`master key ${position + 1} repeats the key id ${kid}`)
    masters.set(kid, Buffer.from(encoded, 'base64'))
  }
  const kids: readonly string[] = [...masters.keys()]
  const currentKid = kids[0]
  if (currentKid === undefined) throw new RangeError('there must be at least one master key')
  const derived = new Map<string, Buffer>()

  const keptFor = (purpose: string) =>
    [...kept].flatMap(([kid, keys]) => (keys.has(purpose) && !masters.has(kid) ? [kid] : []))

  return {
    /** Key id with which new things are sealed, signed and hashed. */
    currentKid,
    /** All key ids, the current one first. */
    kids,
    /** Key ids that check `purpose`, the current first: `kids`, and dropped ones whose key was kept. */
    kidsOf: (purpose: string): readonly string[] => [...kids, ...keptFor(purpose)],
    /** 32 bytes for one purpose (HKDF-SHA256). @throws RangeError for an unknown key id. */
    derive(purpose: string, kid: string): Buffer {
      const cacheKey = `${kid}/${purpose}`
      const known = derived.get(cacheKey) ?? (masters.has(kid) ? undefined : kept.get(kid)?.get(purpose))
      if (known !== undefined) return known
      const master = masters.get(kid)
      if (master === undefined) throw new RangeError(`there is no master key ${kid}`)
      const key = Buffer.from(hkdfSync('sha256', master, '', `pitboss/v1/${purpose}`, keyBytes))
      derived.set(cacheKey, key)
      return key
    },
  }
}
