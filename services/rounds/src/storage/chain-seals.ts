import { ConfigError } from '@pitboss/runtime/load-config'
import { standingAmong } from '@pitboss/storage/journal/claims'
import { append, type ClaimDocument, type JournalStore, load } from '@pitboss/storage/journal/journal'
import { entryNumber, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import { mongodbJournal } from '@pitboss/storage/journal/mongodb-journal'
import type { Keyring } from '@pitboss/storage/keyring'
import { sealedFields, type SealedRecords, type SealedValue } from '@pitboss/storage/rewrite-seals'
import { kidOf } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import { isUnfinished } from '../rules/round.ts'
import { decodeRound, type RoundFields } from './round-document.ts'
import { bookKey, bookKind, type RoundFact, streamState } from './round-stream.ts'
import { deadline, type RoundsJournal } from './round-streams.ts'
import type { RoundsStore } from './rounds-store.ts'

type Store = Pick<JournalStore<RoundFact>, 'readClaims' | 'readEntries'>

/** A last round of a nonce sequence, or the place of a lost one: only their seeds are not revealed. */
export type ChainSeals = {
  /** Names the sequence: the part of its claims before the nonce. Pages go from the highest down. */
  readonly _id: string
  readonly stream: StreamKey
  readonly number: number
  readonly fields: RoundFields | null
}

const highest = '\u{10ffff}'
const lowerMax = 1000
const pageSize = 100
const hexDigits = Array.from({ length: 16 }, (_, digit) => digit.toString(16))

/** The last round of each nonce sequence. @param within first hex characters of its spread; all by default */
async function readChainSeals(store: Store, after: string, max: number, within = ''): Promise<ChainSeals[]> {
  const above = `${bookKind}/${within}`
  const claims: ClaimDocument[] = []
  for (let below = after === '' ? `${above}${highest}` : after; claims.length < max; ) {
    const [claim] = await store.readClaims({ above, below }, 1)
    if (claim === undefined) break
    claims.push(claim)
    below = chainOf(claim)
  }
  return (await Promise.all(claims.map((claim) => lastOf(store, claim)))).flat()
}

/** Whether a hidden seed of the book is sealed under a key; null when the time did not suffice. */
async function isSealedInBook(store: Store, kid: string, isLate: () => boolean): Promise<boolean | null> {
  const found = await Promise.all(hexDigits.map((within) => isSealedWithin(store, kid, within, isLate)))
  if (found.includes(true)) return true
  return found.includes(null) ? null : false
}

async function isSealedWithin(store: Store, kid: string, within: string, isLate: () => boolean) {
  for (let after = ''; ; ) {
    const page = await readChainSeals(store, after, pageSize, within)
    if (page.some(({ fields }) => sealedIn(fields).some(({ sealed }) => kidOf(sealed) === kid))) return true
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return false
    if (isLate()) return null
    after = last._id
  }
}

/** The seeds that are not revealed: of an unfinished round, and of the nonce after it. */
function sealedIn(fields: RoundFields | null): SealedValue[] {
  if (fields === null) return []
  const { chain, nonce, unfinished, sealedSeed, next } = fields
  return [
    ...(unfinished ? [{ path: 'sealedSeed', sealed: sealedSeed, aad: `${nonce}/${chain}` }] : []),
    ...(next === undefined ? [] : [{ path: 'next', sealed: next.sealedSeed, aad: `${nonce + 1}/${chain}` }]),
  ]
}

/** A sequence's last round; above it the places of lost ones, as a database that was set back has them. */
async function lastOf(store: Store, highestClaim: ClaimDocument): Promise<ChainSeals[]> {
  const _id = chainOf(highestClaim)
  const found: ChainSeals[] = []
  let claim: ClaimDocument | undefined = highestClaim
  for (let tries = 0; claim !== undefined && tries < lowerMax; tries++) {
    const entries = await store.readEntries(claim.s)
    const { fields, isWithdrawn, isPlace } = streamState(standingAmong(entries))
    const number = Math.max(0, ...entries.map((entry) => entryNumber(entry._id)))
    // Else its entry is on its way, or was withdrawn.
    if (fields !== null && !isWithdrawn) {
      found.push({ _id, stream: claim.s, number, fields })
      if (!isPlace) break
    }
    const lower: readonly ClaimDocument[] = await store.readClaims({ above: _id, below: claim._id }, 1)
    claim = lower[0]
  }
  return found.length === 0 ? [{ _id, stream: highestClaim.s, number: 0, fields: null }] : found
}

function chainOf({ _id }: ClaimDocument): string {
  return _id.slice(0, _id.lastIndexOf('/') + 1)
}

const purpose = 'server-seeds'

/** What the core seals as documents: the seeds of commitments that no round has made. */
export const sealedSeeds = [
  sealedFields({
    ...{ collection: 'commitments', shardKey: 'chain', purpose, paths: ['sealedSeed'] },
    aadOf: ({ chain, nonce }) => `${nonce}/${chain}`,
  }),
]

/** Seeds in the journal: of each sequence's last round and its next nonce. An entry renews them. */
export function sealedInJournal(given: {
  readonly db: Db
  readonly journal: Pick<RoundsJournal, 'journal'>
  readonly rounds: Pick<RoundsStore, 'takeIn'>
}): SealedRecords<ChainSeals> {
  const { db, rounds } = given
  const { journal } = given.journal
  return {
    ...{ collection: 'journal', purpose },
    // A sequence begins with a commitment of its own.
    count: async () => Number(await db.collection('commitments').estimatedDocumentCount()),
    read: (after, max) => readChainSeals(journal.store, after, max),
    valuesIn: ({ fields }) => sealedIn(fields),
    async rewrite({ stream, number, fields }, renewed) {
      if (fields === null) return true
      const { sealedSeed, next } = renewed
      const set = {
        ...(sealedSeed === undefined ? {} : { sealedSeed }),
        ...(next === undefined || fields.next === undefined
          ? {}
          : { next: { ...fields.next, sealedSeed: next } }),
      }
      const decided = { facts: [{ change: { set } }] } as const
      const appended = await append(journal, stream, number, decided, deadline({ journal }))
      if (appended.kind === 'unknown') throw new Error(`it is not known whether ${stream} was sealed again`)
      if (appended.kind !== 'appended') return false
      const round = decodeRound(fields)
      if (isUnfinished(round)) rounds.takeIn(stream, (await load(journal, stream)).entries)
      return true
    },
  }
}

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
