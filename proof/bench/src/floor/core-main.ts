import { createCipheriv, createHash, createHmac, randomBytes, randomUUID, type BinaryLike } from 'node:crypto'
import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { connect, nanos } from 'nats'
import pino from 'pino'
import { Pool } from 'undici'
import { floorEvent, floorScope } from '../harness/floor-relay.ts'
import { callFloorWallet } from '../harness/floor-wallet.ts'
import { given, servePart } from '../harness/serve-part.ts'
import { createGroupCommit } from './group-commit.ts'
import { listIndexes } from './list-indexes.ts'
import {
  eventStream,
  eventSubject,
  type FloorPlay,
  floorPlay,
  type FloorPlayed,
  playSubject,
} from './play-messages.ts'

/*
 * The bare core: rounds and settlement in one process, on a journal of entries that are only appended. What
 * is durable before each call, each answer and each event is what the product promises; recovery, replicas,
 * limits, sessions and reports are missing.
 */

type Entry = { _id: string; at: Date; kind: 'intent' | 'settling' | 'settled'; round: string; facts: object }
type Answered = { statusCode: number; text: string }

const minorStake = '100'
const minorWin = '198'
const win = '1.98'
const faces = 10_000
const nonceBytes = 12

const { db } = await connectStorage({
  url: given('MONGODB_URL'),
  database: 'floor_core',
  logger: pino({ level: 'warn' }, pino.destination(2)),
})
await ensureIndexes(db, { journal: [], ...listIndexes })
const bus = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor-core' }))
await (await jetstreamManager(bus)).streams.add({
  name: eventStream,
  subjects: [eventSubject],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  duplicate_window: nanos(300_000),
})
const stream = jetstream(bus)
const wallet = new Pool(given('WALLET_URL'), { connections: 64 })
const sealKey = randomBytes(32)
const nonces = new Map<string, number>()

const unordered = { ordered: false }
const journal = createGroupCommit<Entry>(
  async (entries) => void (await db.collection<Entry>('journal').insertMany(entries, unordered)),
  { most: 128 },
)
const lists = Object.fromEntries(
  ['rounds', 'movements'].map((name) => [
    name,
    createGroupCommit<{ _id: string }>(
      async (documents) => void (await db.collection<{ _id: string }>(name).insertMany(documents, unordered)),
      { most: 64, restMs: 100 },
    ),
  ]),
)
const events = createGroupCommit<string>(
  async (bodies) =>
    void (await stream.publish(eventSubject, `[${bodies.join(',')}]`, { msgID: randomUUID() })),
  { most: 64, restMs: 20 },
)

function newId(prefix: string): string {
  return `${prefix}_${Date.now().toString(36)}${randomBytes(10).toString('hex')}`
}

function seal(seed: BinaryLike): string {
  const iv = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', sealKey, iv)
  return Buffer.concat([iv, cipher.update(seed), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** What nobody waits for; its failure ends the process, and with it the measurement. */
function behind(work: Promise<void>): void {
  work.catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
}

async function play({ player, stake, bet, client_seed }: FloorPlay): Promise<FloorPlayed> {
  const chain = `${floorScope}/dice/${player}`
  const nonce = (nonces.get(chain) ?? 0) + 1
  nonces.set(chain, nonce)
  const seed = randomBytes(32)
  const seedHash = createHash('sha256').update(seed).digest('hex')
  const round = { _id: newId('rnd'), player, session: `ses_${player}`, walletRoundId: randomUUID() }
  const taken = movement(round, 'BET', stake, false)
  const append = (number: number, kind: Entry['kind'], facts: object) =>
    journal.add({ _id: `${chain}/${nonce}/${number}`, at: new Date(), kind, round: round._id, facts })

  await append(1, 'intent', {
    stake,
    bet: JSON.stringify(bet),
    sealed: seal(seed),
    seedHash,
    clientSeed: client_seed,
    body: taken.body,
  })
  const debit = await callFloorWallet(wallet, '/debit', taken.body)
  const roll = createHmac('sha256', seed).update(`${client_seed}:${nonce}`).digest().readUInt32BE(0) % faces
  const won = roll >= faces / 2
  const told = { ...taken.facts, server_seed_hash: seedHash, nonce, client_seed, bet }
  const end = {
    ...told,
    server_seed: seed.toString('hex'),
    outcome: { roll, won },
    payout: won ? win : '0.00',
  }
  const begun = [floorEvent('transaction.bet', taken.facts), floorEvent('round.started', told)]
  const ended = [floorEvent('round.completed', end)]
  const paid = won ? movement(round, 'WIN', win, true) : null
  await append(2, won ? 'settling' : 'settled', {
    debit,
    roll,
    win: paid?.body ?? null,
    events: (won ? begun : [...begun, ...ended]).map(({ body }) => body),
  })
  if (paid !== null) {
    const credit = await callFloorWallet(wallet, '/credit', paid.body)
    ended.unshift(floorEvent('transaction.win', paid.facts))
    await append(3, 'settled', { credit, events: ended.map(({ body }) => body) })
    behind(list('movements', listedMovement(round, paid, credit)))
  }
  for (const { body } of [...begun, ...ended]) behind(events.add(body))
  behind(list('movements', listedMovement(round, taken, debit)))
  const movements = [taken, ...(paid === null ? [] : [paid])].map(({ transactionId }) => transactionId)
  behind(
    list('rounds', listedRound(round, { chain, nonce, movements, seedHash, end, clientSeed: client_seed })),
  )
  return {
    round_id: round._id,
    status: 'SETTLED',
    payout: end.payout,
    outcome: { roll: (roll / 100).toFixed(2) },
    nonce,
    server_seed_hash: seedHash,
    server_seed: end.server_seed,
    stake,
    currency: 'USD',
  }
}

type Round = { _id: string; player: string; session: string; walletRoundId: string }
type Movement = ReturnType<typeof movement>

function movement(round: Round, type: 'BET' | 'WIN', amount: string, roundClosed: boolean) {
  const transactionId = newId(type.toLowerCase())
  const reference = newId('txn')
  const gameId = '348139b8-2c9f-51f6-a214-184a8fad295f'
  const facts = {
    transaction_id: transactionId,
    reference,
    type,
    status: 'SUCCESS',
    amount,
    currency: 'USD',
    player_id: round.player,
    session_id: round.session,
    round_id: round._id,
    reference_transaction_id: null,
    wallet_round_id: round.walletRoundId,
    wallet_game_id: gameId,
    free_bet: false,
  }
  const body = JSON.stringify({
    transactionId,
    reference,
    type,
    roundId: round.walletRoundId,
    gameId,
    game: 'dice',
    sessionId: round.session,
    playerId: round.player,
    currency: 'USD',
    amount,
    freeBet: false,
    roundClosed,
    occurredAt: new Date().toISOString(),
  })
  return { transactionId, reference, type, amount, facts, body }
}

function list(collection: string, document: { _id: string }): Promise<void> {
  const group = lists[collection]
  if (group === undefined) throw new Error(`there is no list ${collection}`)
  return group.add(document)
}

function listedRound(
  round: Round,
  {
    chain,
    nonce,
    movements,
    seedHash,
    end,
    clientSeed,
  }: { chain: string; nonce: number; movements: string[]; seedHash: string; end: object; clientSeed: string },
) {
  const now = new Date()
  const [operatorId, environment] = floorScope.split('/')
  return {
    _id: round._id,
    scope: floorScope,
    operatorId,
    environment,
    chain,
    nonce,
    driver: 'game',
    game: 'dice',
    currency: 'USD',
    playerId: round.player,
    sessionId: round.session,
    walletRoundId: round.walletRoundId,
    clientSeed,
    serverSeedHash: seedHash,
    status: 'SETTLED',
    unfinished: false,
    stakes: [{ transactionId: movements[0], minor: minorStake, state: 'TAKEN' }],
    wins: movements.slice(1).map((transactionId) => ({ transactionId, minor: minorWin, state: 'PAID' })),
    transactionIds: movements,
    end: JSON.stringify(end),
    createdAt: now,
    completedAt: now,
    version: 3,
  }
}

function listedMovement(
  round: Round,
  { transactionId, reference, type, amount, body }: Movement,
  answer: Answered,
) {
  const now = new Date()
  return {
    _id: `${floorScope}/${transactionId}`,
    version: 1,
    walletKey: floorScope,
    transactionId,
    reference,
    type,
    amount,
    currency: 'USD',
    status: 'SUCCESS',
    playerId: round.player,
    sessionId: round.session,
    roundId: round._id,
    walletRoundId: round.walletRoundId,
    body,
    attempts: [{ attempt: 1, sentAt: now, httpStatus: answer.statusCode, responseExcerpt: answer.text }],
    attemptedAt: now,
    balanceAfter: '1000.00',
    walletTransactionId: `w-${transactionId}`,
    createdAt: now,
    updatedAt: now,
  }
}

const calls = bus.subscribe(playSubject, { queue: 'floor-core' })
servePart({ ready: true }, async () => ({ journal: journal.counts(), events: events.counts() }))
for await (const message of calls) {
  behind(
    play(floorPlay.parse(JSON.parse(message.string()))).then((played) => {
      message.respond(JSON.stringify(played))
    }),
  )
}
