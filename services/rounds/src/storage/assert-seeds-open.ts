import { ConfigError } from '@pitboss/runtime/load-config'
import { mongodbJournal } from '@pitboss/storage/journal/mongodb-journal'
import type { Keyring } from '@pitboss/storage/keyring'
import type { Db } from 'mongodb'
import { isSealedInBook } from './chain-seals.ts'
import { bookKey, type RoundFact } from './round-stream.ts'

const keyIdsMax = 1000
const batchMax = 1000
/** Time for the search below: a start that does not know in time is refused, too. */
const searchMs = 30_000

/**
 * Refuses master keys that lack one under which an unfinished or coming nonce's seed is sealed: its round
 * could take a stake and never end. Source: ours. @throws ConfigError naming the key id
 */
export async function assertSeedsOpen(db: Db, keyring: Pick<Keyring, 'kids'>): Promise<void> {
  const written = await db.collection<{ _id: string }>('master_keys').find({}).limit(keyIdsMax).toArray()
  const untilMs = performance.now() + searchMs
  for (const { _id: kid } of written) {
    if (keyring.kids.includes(kid)) continue
    const needs = await needOf(db, kid, () => performance.now() > untilMs)
    if (needs === null) continue
    const problem = `the key ${kid} is missing, and ${needs} (${db.databaseName}). Give it again, after the current one`
    throw new ConfigError([{ variable: 'PITBOSS_MASTER_KEYS', problem }])
  }
}

const tooLong = 'it takes too long to tell whether seeds are sealed under it'

/** Says in words which seed needs the key; null for none. */
async function needOf(db: Db, kid: string, isLate: () => boolean): Promise<string | null> {
  type Sealed = { chain: string; nonce: number; sealedSeed: string; unfinished?: boolean; n?: number }
  const rounds = db.collection<Sealed>('rounds')
  const { readClaims, readEntries, read } = mongodbJournal<RoundFact>(db)
  // "/" follows "." in ASCII.
  const sealedSeed = { $gt: `v1.${kid}.`, $lt: `v1.${kid}/` }
  const older = { unfinished: true, sealedSeed, n: { $exists: false } }
  if ((await rounds.findOne(older, { hint: 'scope_unfinished' })) !== null)
    return 'seeds of unfinished rounds are sealed under it'
  const sealed = db.collection<Sealed>('commitments').find({ sealedSeed }, { batchSize: batchMax })
  try {
    for await (const { chain, nonce } of sealed.project<Sealed>({ _id: 0, chain: 1, nonce: 1 })) {
      const [claimed] = await read([bookKey(chain, nonce)])
      const played =
        claimed ??
        (await rounds.findOne({ chain, nonce: { $gte: nonce } }, { projection: { _id: 1, chain: 1 } }))
      if (played === null) return 'seeds of nonces to come are sealed under it'
      if (isLate()) return tooLong
    }
  } finally {
    await sealed.close()
  }
  const isSealed = await isSealedInBook({ readClaims, readEntries }, kid, isLate)
  if (isSealed === null) return tooLong
  return isSealed ? 'seeds of unfinished rounds or of nonces to come are sealed under it' : null
}
