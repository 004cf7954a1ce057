import { randomBytes } from 'node:crypto'
import type { Storage } from '@pitboss/storage/connect-storage'
import type { Pool } from 'undici'
import { type FloorEvent, type FloorRelay, floorScope, type Outboxed } from './floor-relay.ts'
import { callFloorWallet } from './floor-wallet.ts'

const leaseMs = 10_000

/** Fields that every floor keeps of a movement. */
type FloorMovement = Outboxed & {
  walletKey: string
  reference: string
  status: 'PENDING' | 'SUCCESS'
  callingRound: string | null
  dueAt: Date | null
  body: string
  attempts: { attempt: number; sentAt: Date; httpStatus: number; responseExcerpt: string }[]
  createdAt: Date
  updatedAt: Date
}

type FloorMove = {
  transactionId: string
  roundId: string
  /** Further fields that this floor keeps. */
  fields: object
  path: string
  bodyOf(reference: string, at: Date): object
  eventOf(movement: object, reference: string): FloorEvent
}

/**
 * One movement as docs/flows.md, flow 2 lists it, and nothing besides: intent, signed call, outcome with
 * attempt and event in one fenced update, publish, removal from the outbox. As in the product, events go out
 * behind the answer.
 */
export function createFloorMovements({
  db,
  relay,
  wallet,
}: {
  db: Storage['db']
  relay: FloorRelay['relay']
  wallet: Pool
}): (move: FloorMove) => Promise<void> {
  const movements = db.collection<FloorMovement>('movements')
  return async ({ transactionId, roundId, fields, path, bodyOf, eventOf }) => {
    const now = new Date()
    const reference = `txn_${randomBytes(13).toString('hex')}`
    const body = JSON.stringify(bodyOf(reference, now))
    const movement: FloorMovement = {
      ...fields,
      _id: `${floorScope}/${transactionId}`,
      version: 1,
      walletKey: floorScope,
      reference,
      status: 'PENDING',
      callingRound: `${floorScope}/${roundId}`,
      dueAt: new Date(now.getTime() + leaseMs),
      body,
      attempts: [],
      createdAt: now,
      updatedAt: now,
      outbox: [],
      outboxAt: null,
    }
    await movements.insertOne(movement)
    const { statusCode, text } = await callFloorWallet(wallet, path, body)
    const event = eventOf(movement, reference)
    const ended = new Date()
    await movements.findOneAndUpdate(
      { _id: movement._id, version: 1 },
      {
        $set: { status: 'SUCCESS', callingRound: null, dueAt: null, updatedAt: ended, outboxAt: ended },
        $push: {
          outbox: event,
          attempts: { attempt: 1, sentAt: now, httpStatus: statusCode, responseExcerpt: text },
        },
        $inc: { version: 1 },
      },
      { returnDocument: 'after' },
    )
    relay('movements', movement._id, [event])
  }
}
