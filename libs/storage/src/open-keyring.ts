import { createHash } from 'node:crypto'
import { ConfigError } from '@pitboss/runtime/load-config'
import type { Db } from 'mongodb'
import { isDuplicateKey } from './create-once.ts'
import { ensureIndexes } from './ensure-indexes.ts'
import { type Keyring, parseKeyring } from './keyring.ts'
import { createSecretBox, kidOf, type SecretBox } from './stored-secrets.ts'

/** What a database knows of a master key. */
type KeyDocument = {
  _id: string
  /** A hash of something derived from the key, so that it opens nothing. */
  proof: string
  /** Keys derived from it for checking MACs, by purpose, sealed under a later current key. */
  kept?: Record<string, string>
}

const variable = 'PITBOSS_MASTER_KEYS'
const collection = 'master_keys'
const knownMax = 1000
const cursorPurposes: readonly string[] = ['cursor']

/**
 * Reads `PITBOSS_MASTER_KEYS` and holds them against the database, which remembers each key id's key from its
 * first use on. A service with other keys could open none of the stored secrets, and would seal new ones that
 * its own replicas cannot open. Keys that check MACs are kept in the database, sealed under the current key,
 * so that hashes and cursors outlive a master key that was dropped. Source: ours.
 * @param macPurposes the purposes of the service's MACs
 * @throws ConfigError naming the variable when a key id stands for another key here, or when none of the
 * database's keys is among them.
 */
export async function openKeyring(
  db: Db,
  text: string,
  macPurposes: readonly string[] = cursorPurposes,
): Promise<Keyring> {
  const keyring = readKeyring(text)
  const documents = db.collection<KeyDocument>(collection)
  await ensureIndexes(db, { [collection]: [] })
  const known = await documents.find({}).limit(knownMax).toArray()
  if (known.length > 0 && !known.some(({ _id }) => keyring.kids.includes(_id))) {
    throw otherKeys(db, 'none of the keys under which the database was written is among them')
  }
  for (const kid of keyring.kids) {
    const proof = proofOf(keyring, kid)
    const present = known.find(({ _id }) => _id === kid) ?? (await remember({ _id: kid, proof }))
    if (present.proof !== proof) throw otherKeys(db, `the database knows another key as ${kid}`)
  }
  const box = createSecretBox(keyring, 'kept-keys')
  const kept = new Map<string, Map<string, Buffer>>()
  for (const kid of new Set([...keyring.kids, ...known.map(({ _id }) => _id)])) {
    if (kid === keyring.currentKid) continue
    const stored = known.find(({ _id }) => _id === kid)?.kept ?? {}
    const keys = keyring.kids.includes(kid)
      ? new Map(macPurposes.map((purpose) => [purpose, keyring.derive(purpose, kid)]))
      : openAll(keyring, box, kid, stored)
    kept.set(kid, keys)
    const stale = [...keys].filter(([purpose]) => kidOf(stored[purpose] ?? '') !== keyring.currentKid)
    if (stale.length > 0) await documents.updateOne({ _id: kid }, { $set: sealAll(box, kid, stale) })
  }
  return parseKeyring(text, kept)

  /** The value stored under the key id now: this one, or that of another process which was faster. */
  async function remember(mine: KeyDocument): Promise<KeyDocument> {
    try {
      await documents.insertOne(mine)
      return mine
    } catch (error) {
      const other = isDuplicateKey(error) ? await documents.findOne({ _id: mine._id }) : null
      if (other === null) throw error
      return other
    }
  }
}

const boundTo = (kid: string, purpose: string) => `kept/${kid}/${purpose}`

function sealAll(
  box: SecretBox,
  kid: string,
  keys: readonly (readonly [purpose: string, key: Buffer])[],
): Record<string, string> {
  return Object.fromEntries(
    keys.map(([purpose, key]) => [
      `kept.${purpose}`,
      box.seal(key.toString('base64'), boundTo(kid, purpose)),
    ]),
  )
}

/** Those that the present keys open; what another key sealed stays for the time when that key is back. */
function openAll(
  keyring: Keyring,
  box: SecretBox,
  kid: string,
  stored: Readonly<Record<string, string>>,
): Map<string, Buffer> {
  return new Map(
    Object.entries(stored)
      .filter(([, sealed]) => keyring.kids.includes(kidOf(sealed)))
      .map(([purpose, sealed]) => [purpose, Buffer.from(box.open(sealed, boundTo(kid, purpose)), 'base64')]),
  )
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
