import { randomBytes } from 'node:crypto'
import { bookKey } from '@pitboss/rounds/storage/round-stream'
import { newId } from '@pitboss/runtime/new-id'
import type { ClaimDocument, Entry, JournalDocument } from '@pitboss/storage/journal/journal'
import { entryId, streamKey } from '@pitboss/storage/journal/journal-keys'
import { readEntries, writeEntries } from '@pitboss/testing/stored-entries'
import { type Collection, type Db, type Document, MongoClient } from 'mongodb'
import { playerName } from './players.ts'

const batchSize = 1000
const batchesPerReport = 50
/** More entries than a finished round of dice has. */
const entriesMax = 16

/**
 * Makes a history as if it had been played: copies of finished rounds, their entries in the journal and their
 * movements, straight into the databases with the indexes that the product made. One half belongs to the
 * players who are measured, so that their nonce sequences are long; the other to players who come once.
 */
export function createHistory({ mongodbUrl, players }: { mongodbUrl: string; players: number }) {
  const client = new MongoClient(mongodbUrl, { useBigInt64: true })
  const db = client.db('pitboss_rounds')
  const rounds = db.collection('rounds')
  const movements = client.db('pitboss_wallet_bridge').collection('movements')
  let made = 0

  return {
    /** Rounds that lie in the database. */
    size: () => rounds.countDocuments(),

    /** Adds rounds until there are `size`, while there is no play. */
    async grow(size: number, onProgress: (text: string) => void): Promise<void> {
      const samples = await readSamples(db, movements)
      const nonces = new Map<string, number>()
      let batches = 0
      let missing = size - Number(await rounds.countDocuments())
      while (missing > 0) {
        const batch: Copy[] = []
        for (let count = Math.min(batchSize, missing); count > 0; count--) {
          const sample = samples[made % samples.length]
          if (sample === undefined) throw new Error('there is no finished round to copy')
          const stays = made % 2 === 0
          const playerId = stays ? playerName('dice', (made / 2) % players) : `passer-by-${made}`
          const chain = `${sample.round.scope}/dice/${playerId}`
          const nonce = stays ? (nonces.get(chain) ?? (await lastNonce(rounds, chain))) + 1 : 1
          if (stays) nonces.set(chain, nonce)
          batch.push(copy(sample, { playerId, chain, nonce, number: made }))
          made++
        }
        await Promise.all([
          rounds.insertMany(
            batch.map(({ round }) => round),
            { ordered: false },
          ),
          writeEntries(
            db,
            batch.flatMap((one) => one.entries),
          ),
          movements.insertMany(
            batch.flatMap((one) => one.movements),
            { ordered: false },
          ),
        ])
        missing -= batch.length
        batches += 1
        if (batches % batchesPerReport === 0) onProgress(`history: ${size - missing} of ${size} rounds`)
      }
    },

    close: () => client.close(),
  }
}

type Sample = {
  round: Document
  entries: Entry<Document>[]
  claim: ClaimDocument
  movements: Document[]
}
type Copy = { round: Document; entries: JournalDocument<Document>[]; movements: Document[] }

/**
 * Finished rounds of which nothing is left to be done. Copies are counted by nobody: their process is gone.
 */
async function readSamples(db: Db, movements: Collection): Promise<Sample[]> {
  const found = await db
    .collection('rounds')
    .find({ game: 'dice', status: 'SETTLED', open: false })
    .limit(20)
    .toArray()
  const samples = await Promise.all(
    found.map(async (round) => {
      const nonce = Number(round.nonce)
      const claim = await db
        .collection<ClaimDocument>('journal')
        .findOne({ _id: bookKey(String(round.chain), nonce) })
      const entries = await readEntries<Document>(db, keyOf(round, nonce))
      const own = await movements.find({ roundId: String(round._id) }).toArray()
      return claim === null ? [] : [{ round, entries, claim, movements: own }]
    }),
  )
  return samples.flat().filter((sample) => sample.movements.every(({ open }) => open !== true))
}

/** The stream of a round's document. */
function keyOf({ _id, operatorId, environment, game, playerId }: Document, nonce: number): string {
  return streamKey(
    ...[String(operatorId), String(environment), String(game), String(playerId)],
    ...[String(nonce).padStart(10, '0'), String(_id).slice(-8)],
  )
}

async function lastNonce(rounds: Collection, chain: string): Promise<number> {
  const [last] = await rounds
    .find({ chain }, { projection: { nonce: 1 } })
    .sort({ nonce: -1 })
    .limit(1)
    .toArray()
  return Number(last?.nonce ?? 0)
}

function copy(
  sample: Sample,
  { playerId, chain, nonce, number }: { playerId: string; chain: string; nonce: number; number: number },
): Copy {
  const roundId = newId('rnd')
  const moved = sample.movements.map((movement) => {
    const transactionId = newId(movement.type === 'BET' ? 'bet' : 'win')
    const reference = newId('txn')
    const _id = `${movement.walletKey}/${transactionId}`
    return { ...movement, _id, transactionId, reference, playerId, roundId, walletRoundId: roundId }
  })
  const transactionIds = moved.map(({ transactionId }) => transactionId)
  const own = { _id: roundId, playerId, chain, nonce, transactionIds }
  const round = { ...sample.round, ...own }
  const stream = keyOf(round, nonce)
  const entries = sample.entries.map((entry, index) => ({
    ...{ ...entry, _id: entryId(stream, index + 1), w: randomBytes(8).toString('hex'), o: 'ins_history' },
    q: number * entriesMax + index,
    f: entry.f.map((fact: Document) =>
      fact.base === undefined ? fact : { ...fact, base: { ...fact.base, ...own } },
    ),
  }))
  const claim = { ...sample.claim, _id: bookKey(chain, nonce), w: entries[0]?.w ?? '', s: stream }
  return { round, entries: [...entries, claim], movements: moved }
}
