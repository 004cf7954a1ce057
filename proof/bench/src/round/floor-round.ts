import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { createFloorMovements } from '../harness/floor-movements.ts'
import { floorEvent, floorScope, type Outboxed } from '../harness/floor-relay.ts'
import type { Floor } from '../harness/serve-floor.ts'

const faces = 10_000

type Round = { _id: string; playerId: string; sessionId: string; walletRoundId: string }
type RoundDocument = Outboxed &
  Round & {
    scope: string
    chain: string
    nonce: number
    unfinished: boolean
    status: string
    stake: string
    payout: string | null
    bet: string
    outcome: string | null
    sealedSeed: string
    transactionIds: string[]
    dueAt: Date | null
    createdAt: Date
    completedAt: Date | null
    updatedAt: Date
  }

/**
 * One round of dice as docs/flows.md, flow 2 lists it, and nothing besides: the durable writes, the wallet
 * calls and the publishes, in one process. As in the product, events go out behind the answer.
 */
export function createFloorRounds(floor: Floor): (caller: number) => Promise<void> {
  const { db, relay } = floor
  const commitments = db.collection<{ _id: string; seed: string; createdAt: Date }>('commitments')
  const rounds = db.collection<RoundDocument>('rounds')
  const moveOnFloor = createFloorMovements(floor)

  function move(operation: 'debit' | 'credit', round: Round, amount: string): Promise<void> {
    const { _id: roundId, playerId, sessionId } = round
    const transactionId = `${operation}_${randomBytes(13).toString('hex')}`
    const type = operation === 'debit' ? 'BET' : 'WIN'
    return moveOnFloor({
      transactionId,
      roundId,
      fields: { type, playerId, roundId, sessionId },
      path: `/${operation}`,
      bodyOf: (_reference, at) => ({
        ...walletBody(round),
        transactionId,
        amount,
        occurredAt: at.toISOString(),
      }),
      eventOf: (movement) => floorEvent(`transaction.${type.toLowerCase()}`, movement),
    })
  }

  async function end(
    round: Round,
    step: { from: number; status: string; types: readonly string[] },
  ): Promise<void> {
    const over = step.status === 'SETTLED'
    const events = step.types.map((type) => floorEvent(type, round))
    await rounds.findOneAndUpdate(
      { _id: round._id, version: step.from },
      {
        $set: {
          status: step.status,
          unfinished: !over,
          dueAt: over ? null : new Date(Date.now() + 10_000),
          outcome: '{"roll":"50.00"}',
          payout: over ? '198' : null,
          completedAt: over ? new Date() : null,
          updatedAt: new Date(),
          outboxAt: new Date(),
        },
        $push: { outbox: { $each: events } },
        $inc: { version: 1 },
      },
      { returnDocument: 'after' },
    )
    relay('rounds', round._id, events)
  }

  let rounded = 0
  return async (caller) => {
    const now = new Date()
    const playerId = `floor-${caller}`
    const chain = `${floorScope}/dice/${playerId}`
    const nonce = ++rounded
    const seed = randomBytes(32).toString('hex')
    await commitments.insertOne({ _id: `${chain}/${nonce}`, seed, createdAt: now })
    const round: Round = {
      _id: `rnd_${randomBytes(13).toString('hex')}`,
      playerId,
      sessionId: `ses_floor_${caller}`,
      walletRoundId: randomUUID(),
    }
    await rounds.insertOne({
      ...round,
      version: 1,
      scope: floorScope,
      chain,
      nonce,
      unfinished: true,
      status: 'PENDING',
      stake: '100',
      payout: null,
      outcome: null,
      bet: '{"target":"50.00","direction":"over"}',
      sealedSeed: seed,
      transactionIds: [round._id],
      dueAt: new Date(now.getTime() + 20_000),
      createdAt: now,
      completedAt: null,
      updatedAt: now,
      outbox: [],
      outboxAt: null,
    })
    await move('debit', round, '1.00')
    if (randomInt(faces) <= faces / 2) {
      return end(round, { from: 1, status: 'SETTLED', types: ['round.started', 'round.completed'] })
    }
    await end(round, { from: 1, status: 'SETTLING', types: ['round.started'] })
    await move('credit', round, '1.98')
    await end(round, { from: 2, status: 'SETTLED', types: ['round.completed'] })
  }
}

function walletBody({ _id, playerId, sessionId, walletRoundId }: Round) {
  const gameId = 'f1000000-0000-4000-8000-000000000001'
  return {
    reference: _id,
    roundId: walletRoundId,
    gameId,
    game: 'dice',
    sessionId,
    playerId,
    currency: 'USD',
  }
}
