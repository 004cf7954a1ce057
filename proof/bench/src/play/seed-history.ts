import { newId } from '@pitboss/runtime/new-id'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import { type Collection, type Document, MongoClient } from 'mongodb'
import { playerName } from './players.ts'

const batchSize = 1000
const batchesPerReport = 50

/**
 * Makes a history as if it had been played: copies of finished rounds with their commitments and movements,
 * straight into the databases with the indexes that the product made. One half belongs to the players who are
 * measured, so that their nonce sequences are long; the other to players who come once.
 */
export function createHistory({ mongodbUrl, players }: { mongodbUrl: string; players: number }) {
  const client = new MongoClient(mongodbUrl, { useBigInt64: true })
  const rounds = client.db('pitboss_rounds').collection('rounds')
  const commitments = client.db('pitboss_rounds').collection('commitments')
  const movements = client.db('pitboss_wallet_bridge').collection('movements')
  let made = 0

  return {
    /** Rounds that lie in the database. */
    size: () => rounds.countDocuments(),

    /** Adds rounds until there are `size`, while there is no play. */
    async grow(size: number, onProgress: (text: string) => void): Promise<void> {
      const samples = await readSamples(rounds, movements)
      const nonces = new Map<string, number>()
      let batches = 0
      let missing = size - Number(await rounds.countDocuments())
      while (missing > 0) {
        const batch: { round: Document; commitment: Document; movements: Document[] }[] = []
        for (let count = Math.min(batchSize, missing); count > 0; count--) {
          const sample = samples[made % samples.length]
          if (sample === undefined) throw new Error('there is no finished round to copy')
          const stays = made % 2 === 0
          const playerId = stays ? playerName('dice', (made / 2) % players) : `passer-by-${made}`
          const chain = `${sample.round.scope}/dice/${playerId}`
          const nonce = stays ? (nonces.get(chain) ?? (await lastNonce(rounds, chain))) + 1 : 1
          if (stays) nonces.set(chain, nonce)
          batch.push(copy(sample, { playerId, chain, nonce }))
          made++
        }
        await Promise.all([
          rounds.insertMany(
            batch.map(({ round }) => round),
            { ordered: false },
          ),
          insertMissing(
            commitments,
            batch.map(({ commitment }) => commitment),
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

type Sample = { round: Document; movements: Document[] }

/**
 * Finished rounds of which nothing is left to be told or counted: the watch of returns would take copies of
 * one fact for luck that nobody has, and switch the game off.
 */
async function readSamples(rounds: Collection, movements: Collection): Promise<Sample[]> {
  const ended = { game: 'dice', status: 'SETTLED', factsAt: null, outbox: [] }
  const found = await rounds.find(ended).limit(20).toArray()
  const samples = await Promise.all(
    found.map(async (round) => ({
      round,
      movements: await movements.find({ roundId: String(round._id) }).toArray(),
    })),
  )
  return samples.filter((sample) => sample.movements.every(({ outbox }) => outbox.length === 0))
}

/** The next commitment of a nonce sequence may have been shown already; it stays, whatever round it gets. */
async function insertMissing(commitments: Collection, documents: Document[]): Promise<void> {
  try {
    await commitments.insertMany(documents, { ordered: false })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
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
  { playerId, chain, nonce }: { playerId: string; chain: string; nonce: number },
): { round: Document; commitment: Document; movements: Document[] } {
  const roundId = newId('rnd')
  const { sealedSeed, serverSeedHash, createdAt } = sample.round
  const moved = sample.movements.map((movement) => {
    const transactionId = newId(movement.type === 'BET' ? 'bet' : 'win')
    const reference = newId('txn')
    const _id = `${movement.walletKey}/${transactionId}`
    return { ...movement, _id, transactionId, reference, playerId, roundId, walletRoundId: roundId }
  })
  const transactionIds = moved.map(({ transactionId }) => transactionId)
  return {
    round: { ...sample.round, _id: roundId, playerId, chain, nonce, transactionIds },
    commitment: { _id: `${nonce}/${chain}`, chain, nonce, sealedSeed, serverSeedHash, createdAt },
    movements: moved,
  }
}
