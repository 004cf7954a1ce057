import { hkdfSync, createHash } from 'node:crypto'
import { ConfigError } from '@pitboss/runtime/load-config'
import type { Db } from 'mongodb'
import { ensureIndexes } from './ensure-indexes.ts'
import { isDuplicateKey } from './create-once.ts'

const keyBytes = 32

/** The master keys of one installation. Every use derives a key of its own. */
export type Keyring = {
  /** Key id with which new things are sealed, signed and hashed. */
  readonly currentKid: string
  /** All key ids, the current one first. */
  readonly kids: readonly string[]
  /** 32 bytes for one purpose (HKDF-SHA256). @throws RangeError for an unknown key id. */
  derive(purpose: string, kid: string): Buffer
}

/**
 * Reads `PITBOSS_MASTER_KEYS`: `kid:base64(32 bytes)`, comma separated. The first is current; the others
 * still open the secrets that they sealed.
 * @throws RangeError naming the position, never the key.
 */
export function parseKeyring(text: string): Keyring {
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
  const kids = [...masters.keys()]
  const currentKid = kids[0]
  if (currentKid === undefined) throw new RangeError('there must be at least one master key')
  const derived = new Map<string, Buffer>()

  return {
    currentKid,
    kids,
    derive(purpose, kid) {
      const cacheKey = `${kid}/${purpose}`
      const known = derived.get(cacheKey)
      if (known !== undefined) return known
      const master = masters.get(kid)
      if (master === undefined) throw new RangeError(`there is no master key ${kid}`)
      const key = Buffer.from(hkdfSync('sha256', master, '', `pitboss/v1/${purpose}`, keyBytes))
      derived.set(cacheKey, key)
      return key
    },
  }
}

/**
 * Mark of the key that a database knows under a key id: a hash of something derived from the key, so that it
 * opens nothing.
 */
type ProofDocument = { _id: string; proof: string }

const variable = 'PITBOSS_MASTER_KEYS'
const collection = 'master_keys'
const knownMax = 1000

/**
 * Reads `PITBOSS_MASTER_KEYS` and holds them against the database, which remembers each key id's key from its
 * first use on. A service with other keys could open none of the stored secrets, and would seal new ones that
 * its own replicas cannot open. Source: ours.
 * @throws ConfigError naming the variable when a key id stands for another key here, or when none of the
 * database's keys is among them.
 */
export async function openKeyring(db: Db, text: string): Promise<Keyring> {
  const keyring = readKeyring(text)
  const proofs = db.collection<ProofDocument>(collection)
  await ensureIndexes(db, { [collection]: [] })
  const known = await proofs.find({}).limit(knownMax).toArray()
  if (known.length > 0 && !known.some(({ _id }) => keyring.kids.includes(_id))) {
    throw otherKeys(db, 'none of the keys under which the database was written is among them')
  }
  for (const kid of keyring.kids) {
    const proof = proofOf(keyring, kid)
    const present = known.find(({ _id }) => _id === kid) ?? (await remember({ _id: kid, proof }))
    if (present.proof !== proof) throw otherKeys(db, `the database knows another key as ${kid}`)
  }
  return keyring

  /** The value stored under the key id now: this one, or that of another process which was faster. */
  async function remember(mine: ProofDocument): Promise<ProofDocument> {
    try {
      await proofs.insertOne(mine)
      return mine
    } catch (error) {
      const other = isDuplicateKey(error) ? await proofs.findOne({ _id: mine._id }) : null
      if (other === null) throw error
      return other
    }
  }
}

function readKeyring(text: string): Keyring {
  try {
    return parseKeyring(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ConfigError([{ variable, problem: error.message }])
  }
}

function proofOf(keyring: Keyring, kid: string): string {
  return createHash('sha256').update(keyring.derive('proof', kid)).digest('hex')
}

function otherKeys(db: Db, what: string): ConfigError {
  const remedy =
    'Give the keys of that installation (npm start keeps them in master-keys.json of its data folder), or set PITBOSS_DATABASE_PREFIX to a name that is not in use'
  return new ConfigError([{ variable, problem: `${what} (${db.databaseName}). ${remedy}.` }])
}
