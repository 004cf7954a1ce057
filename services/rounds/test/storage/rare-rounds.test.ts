import { randomUUID } from 'node:crypto'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { MongoServerError } from 'mongodb'
import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundState } from '../../src/rules/round.ts'
import { boundedRead } from '@pitboss/storage/bounded-read'
import { createRoundLists, roundIndexes } from '../../src/storage/round-lists.ts'
import { encodeRound } from '../../src/storage/round-document.ts'
import { type StreamState, streamState } from '../../src/storage/round-stream.ts'
import { shardedRounds } from '../fixtures/sharded-rounds.ts'

const now = new Date()
const scope = { operatorId: randomUUID(), environment: 'SANDBOX' } as const
const db = await openTestDatabase(t)
await ensureIndexes(db, { rounds: roundIndexes })
const rounds = createRoundLists({ db: shardedRounds(db) })

async function store(status: RoundState['status'], game = 'dice'): Promise<string> {
  const round = newRound({
    session: {
      ...{ _id: newId('ses'), ...scope, playerId: randomUUID(), game },
      ...{ brandId: null, currency: 'USD', expiresAt: now },
    },
    ...{ driver: 'game', gameId: randomUUID(), clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
    commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
    ...{ grantId: null, requestHash: '', clientTransactionId: null, now, newId },
    newUuid: randomUUID,
  })
  const shown: StreamState = { ...streamState([]), fields: encodeRound({ ...round, status }), number: 1 }
  await rounds.show(shown)
  return round.id
}

t.test('rounds of each status are listed, newest first', async (t) => {
  const statuses = ['PENDING', 'OPEN', 'SETTLING', 'SETTLED', 'VOIDED', 'FAILED'] as const
  for (const status of statuses) {
    const [first, second] = [await store(status), await store(status)]
    const found = await rounds.list(scope, { status }, { before: null, max: 10 })
    t.strictSame(
      found.map(({ _id }) => _id),
      [second, first],
      status,
    )
  }
})

t.test(
  'rounds of one game are listed, newest first, those of a status alone where it is asked for',
  async (t) => {
    const [first, failed, last] = [
      await store('SETTLED', 'mines'),
      await store('FAILED', 'mines'),
      await store('SETTLED', 'mines'),
    ]
    const list = async (status?: RoundState['status']) => {
      const found = await rounds.list(scope, { game: 'mines', status }, { before: null, max: 10 })
      return found.map(({ _id }) => _id)
    }
    t.strictSame(await list(), [last, failed, first])
    t.strictSame(await list('SETTLED'), [last, first])
    t.strictSame(await list('FAILED'), [failed])
  },
)

t.test('a read that takes too long says so, and may be repeated', async (t) => {
  const slow = async () => {
    throw new MongoServerError({ message: 'operation exceeded time limit', code: 50 })
  }
  await t.rejects(boundedRead(slow), {
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    message: /shorter window/,
  })
  const other = async () => {
    throw new MongoServerError({ message: 'no', code: 11 })
  }
  await t.rejects(boundedRead(other), { code: 11 })
})
