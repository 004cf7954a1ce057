import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Storage } from '@pitboss/storage/connect-storage'
import { signatureTimestamp, signBody } from '@pitboss/signing/sign-body'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { Collection } from 'mongodb'
import type { Pool } from 'undici'

const scope = 'f1000000-0000-4000-8000-000000000000/SANDBOX'
const walletSecret = 'the floor has a secret too'
const faces = 10_000

type Outboxed = {
  _id: string
  version: number
  outbox: { id: string; body: string }[]
  outboxAt: Date | null
}
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
type MovementDocument = Outboxed & {
  walletKey: string
  reference: string
  type: 'BET' | 'WIN'
  status: string
  playerId: string
  roundId: string
  sessionId: string
  callingRound: string | null
  dueAt: Date | null
  body: string
  attempts: { attempt: number; sentAt: Date; httpStatus: number; responseExcerpt: string }[]
  createdAt: Date
  updatedAt: Date
}
type Floor = { db: Storage['db']; js: JetStreamClient; subject: string; wallet: Pool }

/**
 * One round of dice as flows.md, section 1 lists it, and nothing besides: the durable writes, the wallet calls and the
 * publishes, in one process. As in the product, events go out behind the answer.
 */
export function createFloorRounds({ db, js, subject, wallet }: Floor) {
  const commitments = db.collection<{ _id: string; seed: string; createdAt: Date }>('commitments')
  const rounds = db.collection<RoundDocument>('rounds')
  const movements = db.collection<MovementDocument>('movements')
  const outboxes: Record<'rounds' | 'movements', Collection<Outboxed>> = {
    rounds: db.collection<Outboxed>('rounds'),
    movements: db.collection<Outboxed>('movements'),
  }
  const behind = new Set<Promise<void>>()

  /** Publishes what a write appended and takes it out of the document: a write of its own, as in the product. */
  function relay(collection: keyof typeof outboxes, id: string, events: Outboxed['outbox']): void {
    const work = async () => {
      for (const { id: msgID, body } of events) await js.publish(subject, body, { msgID })
      const sent = { $in: events.map((event) => event.id) }
      await outboxes[collection].updateOne(
        { _id: id },
        { $pull: { outbox: { id: sent } }, $set: { outboxAt: null } },
      )
    }
    const running: Promise<void> = work().finally(() => behind.delete(running))
    behind.add(running)
  }

  async function move(operation: 'debit' | 'credit', round: Round, amount: string): Promise<void> {
    const now = new Date()
    const transactionId = `${operation}_${randomBytes(13).toString('hex')}`
    const body = JSON.stringify({
      ...walletBody(round),
      transactionId,
      amount,
      occurredAt: now.toISOString(),
    })
    const movement: MovementDocument = {
      _id: `${scope}/${transactionId}`,
      version: 1,
      walletKey: scope,
      reference: `txn_${randomBytes(13).toString('hex')}`,
      type: operation === 'debit' ? 'BET' : 'WIN',
      status: 'PENDING',
      playerId: round.playerId,
      roundId: round._id,
      sessionId: round.sessionId,
      callingRound: `${scope}/${round._id}`,
      dueAt: new Date(now.getTime() + 10_000),
      body,
      attempts: [],
      createdAt: now,
      updatedAt: now,
      outbox: [],
      outboxAt: null,
    }
    await movements.insertOne(movement)
    const timestamp = signatureTimestamp(now)
    const { statusCode, body: answer } = await wallet.request({
      method: 'POST',
      path: `/${operation}`,
      headers: {
        'content-type': 'application/json',
        'x-timestamp': timestamp,
        'x-signature': signBody(walletSecret, timestamp, body),
      },
      body,
    })
    const said = await answer.text()
    if (statusCode !== 200) throw new Error(`the wallet answered ${statusCode}`)
    const event = envelope(`transaction.${operation === 'debit' ? 'bet' : 'win'}`, movement)
    await movements.findOneAndUpdate(
      { _id: movement._id, version: 1 },
      {
        $set: {
          status: 'SUCCESS',
          callingRound: null,
          dueAt: null,
          updatedAt: new Date(),
          outboxAt: new Date(),
        },
        $push: {
          outbox: event,
          attempts: { attempt: 1, sentAt: now, httpStatus: statusCode, responseExcerpt: said },
        },
        $inc: { version: 1 },
      },
      { returnDocument: 'after' },
    )
    relay('movements', movement._id, [event])
  }

  async function end(
    round: Round,
    step: { from: number; status: string; types: readonly string[] },
  ): Promise<void> {
    const over = step.status === 'SETTLED'
    const events = step.types.map((type) => envelope(type, round))
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
  return {
    async play(caller: number): Promise<void> {
      const now = new Date()
      const playerId = `floor-${caller}`
      const chain = `${scope}/dice/${playerId}`
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
        scope,
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
    },
    /** Waits for the events that are still on their way. */
    async finish(): Promise<void> {
      while (behind.size > 0) await Promise.all(behind)
    },
  }
}

type Round = { _id: string; playerId: string; sessionId: string; walletRoundId: string }

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

function envelope(type: string, data: object): Outboxed['outbox'][number] {
  const id = `evt_${randomBytes(13).toString('hex')}`
  const created_at = new Date().toISOString()
  return {
    id,
    body: JSON.stringify({ id, type, created_at, environment: 'SANDBOX', operator_id: scope, data }),
  }
}
