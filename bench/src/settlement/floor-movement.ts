import { randomBytes } from 'node:crypto'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { signatureTimestamp, signBody } from '@pitboss/signing/sign-body'
import type { Storage } from '@pitboss/storage/connect-storage'
import type { Pool } from 'undici'

const walletKey = 'f1000000-0000-4000-8000-000000000000/SANDBOX'
const walletSecret = 'the floor has a secret too'
const leaseMs = 8000

type FloorEvent = { id: string; body: string }
type FloorMovement = MovementSpec & {
  _id: string
  version: number
  walletKey: string
  reference: string
  status: 'PENDING' | 'SUCCESS'
  callingRound: string | null
  dueAt: Date | null
  body: string
  attempts: { attempt: number; sentAt: Date; httpStatus: number; responseExcerpt: string }[]
  createdAt: Date
  updatedAt: Date
  outbox: FloorEvent[]
  outboxAt: Date | null
}

/**
 * One movement as flow 1 lists it, and nothing besides: intent, signed call, outcome with attempt and event in one fenced update,
 * publish, removal from the outbox. As in the product, events go out behind the answer.
 */
export function createFloorMovements({
  db,
  js,
  subject,
  wallet,
}: {
  db: Storage['db']
  js: JetStreamClient
  subject: string
  wallet: Pool
}) {
  const movements = db.collection<FloorMovement>('movements')
  const behind = new Set<Promise<void>>()

  /** Publishes the event and takes it out of the document: a write of its own. */
  function relay(movementId: string, { id, body }: FloorEvent): void {
    const work = async () => {
      await js.publish(subject, body, { msgID: id })
      const sent = { $pull: { outbox: { id } }, $set: { outboxAt: null } }
      await movements.updateOne({ _id: movementId }, sent)
    }
    const running: Promise<void> = work().finally(() => behind.delete(running))
    behind.add(running)
  }

  return {
    async move(spec: MovementSpec): Promise<void> {
      const now = new Date()
      const reference = `txn_${randomBytes(13).toString('hex')}`
      const body = JSON.stringify({ ...callOf(spec), reference, occurredAt: now.toISOString() })
      const movement: FloorMovement = {
        ...spec,
        _id: `${walletKey}/${spec.transactionId}`,
        version: 1,
        walletKey,
        reference,
        status: 'PENDING',
        callingRound: `${walletKey}/${spec.roundId}`,
        dueAt: new Date(now.getTime() + leaseMs),
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
        path: spec.type === 'BET' ? '/floor/debit' : '/floor/credit',
        headers: {
          'content-type': 'application/json',
          'x-timestamp': timestamp,
          'x-signature': signBody(walletSecret, timestamp, body),
        },
        body,
      })
      const said = await answer.text()
      if (statusCode !== 200) throw new Error(`the wallet answered ${statusCode}`)
      const event = eventOf(movement)
      const ended = new Date()
      await movements.findOneAndUpdate(
        { _id: movement._id, version: 1 },
        {
          $set: {
            status: 'SUCCESS',
            callingRound: null,
            dueAt: null,
            updatedAt: ended,
            outboxAt: ended,
          },
          $push: {
            outbox: event,
            attempts: { attempt: 1, sentAt: now, httpStatus: statusCode, responseExcerpt: said },
          },
          $inc: { version: 1 },
        },
        { returnDocument: 'after' },
      )
      relay(movement._id, event)
    },
    /** Waits for the events that are still on their way. */
    async finish(): Promise<void> {
      while (behind.size > 0) await Promise.all(behind)
    },
  }
}

function callOf(spec: MovementSpec) {
  const { transactionId, type, walletRoundId: roundId, walletGameId: gameId, game, sessionId } = spec
  const { playerId, currency, amount, freeBet, roundClosed } = spec
  const about = { roundId, gameId, game, sessionId, playerId }
  return { transactionId, type, ...about, currency, amount, freeBet, roundClosed }
}

function eventOf(movement: FloorMovement): FloorEvent {
  const { transactionId: transaction_id, reference, type, amount, currency } = movement
  const id = `evt_${randomBytes(13).toString('hex')}`
  const data = { transaction_id, reference, type, amount, currency, round_id: movement.roundId }
  const created_at = new Date().toISOString()
  const name = type === 'BET' ? 'transaction.bet' : 'transaction.win'
  return { id, body: JSON.stringify({ id, type: name, created_at, operator_id: walletKey, data }) }
}
