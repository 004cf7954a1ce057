import { packText, unpackOthers, unpackText } from '@pitboss/storage/packed'
import { randomBytes } from 'node:crypto'
import type { RangeDocument } from '@pitboss/webhooks/storage/collections'
import { logKey, readLogKey } from '@pitboss/webhooks/storage/log-keys'
import { orderOf } from '@pitboss/webhooks/storage/new-delivery'
import { deliveriesOf } from '@pitboss/webhooks/storage/range-items'
import type { Collection, Document, MongoClient } from 'mongodb'
import { z } from 'zod'
import { until } from '../harness/until.ts'
import { copyDocument, idAt } from './copy-document.ts'
import type { Samples } from './play-samples.ts'
import { withoutIndexes } from './without-indexes.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Requests are kept for 30 days; the history ends before what the benchmark plays. */
const spreadMs = 29 * dayMs
const endedBeforeMs = 60_000
/** One player's rounds in a row, in one session. */
const roundsPerSession = 10
const players = 2000
/** Rounds of one batch; about six documents each. */
const batchRounds = 500
const batchesAtOnce = 2
const batchesPerReport = 100
const settledWithinMs = 60_000
/** Of 100 sessions; the others are dice. Spin-bottle was last played when the history began. */
const sessionsOfMines = 6
const sessionsOfBottle = 20

const requestIdBytes = 16
const idPattern = /\b([a-z]{2,8})_[0-9a-hjkmnp-tv-z]{26}\b/g
/** Names that copies share with the original. */
const sharedPrefixes = new Set(['whe', 'usr', 'brd', 'crd'])

type Told = { readonly event: Stored; readonly deliveries: readonly Stored[] }
type Story = {
  readonly ids: readonly string[]
  readonly playerId: string
  readonly atMs: number
  readonly round: Stored
  readonly session: Stored
  readonly commitment: Stored
  readonly movements: readonly Stored[]
  /** Of the round, and the opening of its session, each with its deliveries. */
  readonly events: readonly Told[]
  readonly opening: Told
  readonly request: Stored
}

export const seededAccount = z
  .strictObject({ rounds: z.number(), playerId: z.string(), seconds: z.number() })
  .readonly()
export type Seeded = z.output<typeof seededAccount>

export type Stories = Readonly<Record<keyof Samples, readonly Story[]>>

/** What the databases hold of these rounds, once all of it is told. */
export async function readSamples(client: MongoClient, samples: Samples): Promise<Stories> {
  const collections = collectionsOf(client)
  return {
    dice: await readStories(collections, samples.dice),
    mines: await readStories(collections, samples.mines),
    'spin-bottle': await readStories(collections, samples['spin-bottle']),
  }
}

/**
 * Makes the account a month old: `size` finished rounds, spread evenly over 29 days, with their commitments,
 * movements and one event each, of all its kinds by turns, with its delivery; for each ten a session, its
 * event and the request that opened it. All are copies of rounds that were played, written straight into the
 * databases. The product must not run meanwhile; its indexes are made anew at the end.
 */
export async function seedAccount(
  { client, stories, size }: { client: MongoClient; stories: Stories; size: number },
  say: (text: string) => void,
): Promise<Seeded> {
  const collections = collectionsOf(client)
  // The log's order is the order of time, so what was told before the history has to go.
  await Promise.all([collections.events.deleteMany({}), collections.deliveries.deleteMany({})])

  const startedMs = performance.now()
  const beginMs = Date.now() - endedBeforeMs - spreadMs
  const nonces = new Map<string, number>()
  const session = { id: '', story: stories.dice[0] }
  let made = 0
  let recorded = 0
  let reported = 0

  function next(batch: Batch): void {
    const sitting = Math.floor(made / roundsPerSession)
    const game =
      sitting < sessionsOfBottle ? 'spin-bottle' : sitting % 100 < sessionsOfMines ? 'mines' : 'dice'
    const opens = made % roundsPerSession === 0
    const atMs = beginMs + Math.floor((made / size) * spreadMs)
    if (opens) {
      session.id = idAt('ses', atMs)
      session.story = stories[game][sitting % stories[game].length]
    }
    const { story } = session
    if (story === undefined) throw new Error(`there is no round of ${game} to copy`)
    const playerId = playerName(sitting % players)
    const chain = `${game}/${playerId}`
    const nonce = (nonces.get(chain) ?? 0) + 1
    nonces.set(chain, nonce)
    const names = new Map(story.ids.map((id) => [id, idAt(id.slice(0, id.indexOf('_')), atMs)]))
    names.set(story.playerId, playerId).set(story.session._id, session.id)
    names.set(story.request._id, randomBytes(requestIdBytes).toString('hex'))
    const copied = { names, shiftMs: atMs - story.atMs, nonce }
    const copy = (document: Stored) => copyDocument(document, copied)
    made += 1
    const commitment = copy(story.commitment)
    const tell = ({ event, deliveries }: Told) => {
      const told = copy(event)
      recorded += 1
      const { scope } = readLogKey(event._id)
      batch.events.push({ ...told, _id: logKey(scope, recorded), h: new Date(atMs), b: packText(told.b) })
      for (const delivery of deliveries.map(copy))
        batch.deliveries.push({ ...delivery, order: orderOf(delivery.createdAt, delivery._id) })
    }
    const event = story.events[made % story.events.length]
    if (opens) tell(story.opening)
    if (event !== undefined) tell(event)
    batch.rounds.push(copy(story.round))
    batch.commitments.push({ ...commitment, _id: `${nonce}/${String(commitment.chain)}` })
    batch.movements.push(...story.movements.map(copy))
    if (opens) {
      batch.sessions.push(copy(story.session))
      batch.requests.push(copy(story.request))
    }
  }

  async function work(): Promise<void> {
    while (made < size) {
      const batch = emptyBatch()
      const end = Math.min(size, made + batchRounds)
      while (made < end) next(batch)
      await Promise.all(
        batchNames
          .filter((name) => batch[name].length > 0)
          .map((name) => collections[name].insertMany(batch[name], { ordered: false })),
      )
      reported += 1
      if (reported % batchesPerReport === 0) say(`history: ${made} of ${size} rounds`)
    }
  }
  await withoutIndexes(
    batchNames.map((name) => collections[name]),
    () => Promise.all(Array.from({ length: batchesAtOnce }, work)),
    say,
  )
  await passAll(collections, recorded)
  return { rounds: made, playerId: playerName(0), seconds: (performance.now() - startedMs) / 1000 }
}

/** Has each endpoint go on after the history: all of it is delivered. */
async function passAll({ ranges }: Collections, recorded: number): Promise<void> {
  const last = await ranges.find({}).toArray()
  const endpoints = new Map(last.map((range) => [range.webhookId, range]))
  await ranges.deleteMany({})
  for (const [webhookId, { operatorId, environment, at }] of endpoints) {
    const _id = `${webhookId}/${String(1).padStart(12, '0')}`
    await ranges.insertOne({ _id, webhookId, operatorId, environment, to: recorded, w: 'seed', at })
  }
}

const batchNames = [
  'rounds',
  'sessions',
  'commitments',
  'movements',
  'events',
  'deliveries',
  'requests',
] as const
type Batch = Record<(typeof batchNames)[number], Stored[]>
type Stored = Document & { _id: string }
type Collections = Record<(typeof batchNames)[number], Collection<Stored>> & {
  readonly ranges: Collection<RangeDocument>
}

function emptyBatch(): Batch {
  return {
    rounds: [],
    sessions: [],
    commitments: [],
    movements: [],
    events: [],
    deliveries: [],
    requests: [],
  }
}

function collectionsOf(client: MongoClient): Collections {
  const rounds = client.db('pitboss_rounds')
  const webhooks = client.db('pitboss_webhooks')
  return {
    rounds: rounds.collection<Stored>('rounds'),
    sessions: rounds.collection<Stored>('sessions'),
    commitments: rounds.collection<Stored>('commitments'),
    movements: client.db('pitboss_wallet_bridge').collection<Stored>('movements'),
    events: webhooks.collection<Stored>('log'),
    deliveries: webhooks.collection<Stored>('deliveries'),
    ranges: webhooks.collection<RangeDocument>('ranges'),
    requests: client.db('pitboss_auth').collection<Stored>('request_logs'),
  }
}

/** The stories of rounds that are told to their end: nothing of them waits to be published or delivered. */
async function readStories(collections: Collections, roundIds: readonly string[]): Promise<Story[]> {
  const stories: Story[] = []
  for (const roundId of roundIds) {
    await until(`round ${roundId} is told`, () => isTold(collections, roundId), { withinMs: settledWithinMs })
    stories.push(await readStory(collections, roundId))
  }
  return stories
}

/** As documents of their own, also those that were accepted at once. */
async function deliveriesOfEvent(
  { deliveries, ranges }: Pick<Collections, 'deliveries' | 'ranges'>,
  eventId: string,
): Promise<Stored[]> {
  const items = (await ranges.find({ 'd.e': eventId }).toArray()).flatMap(deliveriesOf)
  const stored = await deliveries.find({ eventId }).toArray()
  const mine: Stored[] = items.filter((one) => one.eventId === eventId)
  return [...stored, ...mine]
}

async function isTold({ rounds, movements, events, deliveries, ranges }: Collections, roundId: string) {
  const round = await rounds.findOne({ _id: roundId, open: false })
  const told = await events.find({ r: roundId }).toArray()
  if (round === null || !told.some(({ t }) => t === 'round.completed')) return false
  const waiting = await movements.countDocuments({ roundId, open: true })
  const ids = told.map(({ e }) => e)
  const sent = await Promise.all(ids.map((id) => deliveriesOfEvent({ deliveries, ranges }, String(id))))
  return (
    Number(waiting) === 0 && sent.flat().filter(({ status }) => status === 'DELIVERED').length === ids.length
  )
}

async function readStory(collections: Collections, roundId: string): Promise<Story> {
  const one = async (name: (typeof batchNames)[number], filter: Document) => {
    const found = await collections[name].findOne(filter)
    if (found === null) throw new Error(`round ${roundId} has nothing in ${name}`)
    return found
  }
  const round: Stored = unpackOthers(await one('rounds', { _id: roundId }))
  const told = async (event: Stored) => ({
    event: { ...event, b: unpackText(event.b) },
    deliveries: await deliveriesOfEvent(collections, String(event.e)),
  })
  const openings = await collections.events.find({ t: 'game.session.created' }).toArray()
  const opening = openings.find(({ b }) => unpackText(b).includes(String(round.sessionId)))
  if (opening === undefined) throw new Error(`round ${roundId} has no session in the log`)
  const parts = {
    round,
    session: await one('sessions', { _id: round.sessionId }),
    commitment: commitmentOf(round),
    movements: (await collections.movements.find({ roundId }).toArray()).map(
      (one): Stored => unpackOthers(one),
    ),
    events: await Promise.all((await collections.events.find({ r: roundId }).toArray()).map(told)),
    opening: await told(opening),
    request: await one('requests', { method: 'POST', path: '/v1/sessions' }),
  }
  const text = JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  const ids = new Set(
    [...text.matchAll(idPattern)].flatMap(([id, prefix = '']) => (sharedPrefixes.has(prefix) ? [] : [id])),
  )
  return {
    ...parts,
    ids: [...ids],
    playerId: String(round.playerId),
    atMs: new Date(round.createdAt).getTime(),
  }
}

/** The commitment of a round's nonce, as it stands of rounds that are older than the book. */
function commitmentOf({ chain, nonce, sealedSeed, serverSeedHash, committedAt: createdAt }: Stored): Stored {
  return { _id: `${nonce}/${chain}`, chain, nonce, sealedSeed, serverSeedHash, createdAt }
}

/** Few, so that the books of nonces are long. */
function playerName(player: number): string {
  return `regular-${player}`
}
