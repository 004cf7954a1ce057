import { readFileSync } from 'node:fs'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createOperatorClient } from '@pitboss/testing/operator-client'
import { judgeQueries } from '@pitboss/testing/judge-queries'
import { queriesOf } from '@pitboss/testing/mongodb-planner'
import { runStack } from '@pitboss/testing/run-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { type Db, MongoClient } from 'mongodb'
import { pino } from 'pino'
import t from 'tap'
import { checkIndexes } from './fixtures/index-queries.ts'
import { type SeenCommand, watchCommands } from '@pitboss/testing/watch-commands'
import { watchMessages } from './fixtures/watch-messages.ts'

/**
 * What a round of dice may cost at one caller, in counts that no machine changes: commands that the player
 * waits for, document versions by collection, events, requests between services. Who lowers a count lowers
 * its budget, too; who raises one says why.
 */
const budgets = {
  won: {
    // The inserts of a journal among them; the last one takes list documents along.
    commands: 8,
    requests: 3,
    events: 4,
    // Each event may be passed on its own.
    versions: {
      journal: 10,
      rounds: 1,
      movements: 2,
      commitments: 0,
      log: 4,
      ranges: 4,
      deliveries: 0,
      endpoints: 1,
    },
  },
  lost: {
    commands: 5,
    requests: 2,
    events: 3,
    versions: {
      journal: 6,
      rounds: 1,
      movements: 1,
      commitments: 0,
      log: 3,
      ranges: 3,
      deliveries: 0,
      endpoints: 1,
    },
  },
} as const

type Kind = keyof typeof budgets
type Cost = {
  commands: number
  /** The commands by name, for the message. */
  named: readonly string[]
  requests: number
  events: number
  versions: ReadonlyMap<string, number>
}

/**
 * Rounds of each kind, and the most that are played until one is within the budget. The cheapest counts:
 * polls and a slow machine only add to the others.
 */
const rounds = 5
const roundsMax = 40
const targets: Readonly<Record<Kind, string>> = { won: '98.00', lost: '2.00' }
const services = /^(auth|rounds|wallet|webhooks)\.v1\./

/** Numbers of entries of a journal above those whose duties are all done. */
async function notDone(db: Db): Promise<number> {
  const instances = db.collection<{ _id: string; last: number; done: number }>('journal_instances')
  return (await instances.find({}).toArray()).reduce((sum, { last, done }) => sum + last - done, 0)
}

t.test('a round of dice stays within its budgets, and every index has a query that needs it', async (t) => {
  const engines = await withEngines(t, { fresh: true })
  const database = await watchCommands(engines.mongodbUrl)
  t.teardown(() => database.close())
  const broker = await watchMessages(engines.natsUrl)
  t.teardown(() => broker.close())
  const stack = await runStack(t, [], {
    MONGODB_URL: database.url,
    NATS_URL: broker.url,
    PITBOSS_DATABASE_PREFIX: engines.databasePrefix,
  })
  const open = async (service: string) => {
    const storage = await connectStorage({
      url: engines.mongodbUrl,
      database: `${engines.databasePrefix}_${service}`,
      logger: pino({ level: 'silent' }),
    })
    t.teardown(() => storage.close())
    return storage.db
  }
  const [ours, movements, webhooks] = [
    await open('rounds'),
    await open('wallet_bridge'),
    await open('webhooks'),
  ]
  const operator = await createOperatorClient(stack.demo())
  const player = await operator.openSession({ player_id: 'counted', game: 'dice', currency: 'USD' })

  /** The number of the last event that the only endpoint has passed. */
  async function passedOf(db: Db): Promise<number> {
    const last = await db.collection<{ _id: string; to: number }>('ranges').findOne({}, { sort: { _id: -1 } })
    return last?.to ?? 0
  }

  /** Resolves when so many events are recorded and nothing is left to publish, to deliver or to count. */
  async function settled(events: number): Promise<void> {
    const left = () =>
      Promise.all([
        notDone(ours),
        notDone(movements),
        webhooks.collection('deliveries').countDocuments({ status: { $ne: 'DELIVERED' } }),
        passedOf(webhooks).then((to) => events - to),
      ])
    await waitFor(
      async () =>
        (await webhooks.collection('log').countDocuments()) === events &&
        (await left()).every((count) => count === 0),
      { what: `${events} events to be told, delivered and counted`, everyMs: 50 },
    )
  }

  /** Plays one round and waits until nothing of it is left to do. */
  async function play(target: string): Promise<{ kind: Kind; cost: Cost }> {
    const firstCommand = database.seen.length
    const firstMessage = broker.seen.length
    const known = await webhooks.collection('log').countDocuments()
    const bet = { target, direction: 'under' }
    const { status, body } = await player.call('POST', '/game/rounds', { stake: '1.00', bet })
    const answeredAt = performance.now()
    if (status !== 201) throw new Error(`a round answered ${status}: ${JSON.stringify(body)}`)
    const kind = body.payout === '0.00' ? 'lost' : 'won'
    await settled(known + budgets[kind].events)
    const stored = await ours.collection('rounds').findOne({})
    const ids = [String(stored?.operatorId), String(stored?.sessionId), String(body.round_id)]
    const done = database.seen.slice(firstCommand)
    const versions = new Map<string, number>()
    for (const [collection, made] of done.flatMap((command) => [...command.versions]))
      versions.set(collection, (versions.get(collection) ?? 0) + made)
    const named = done
      .filter((command) => command.startedAt < answeredAt && isWaitedFor(command, ids))
      .map(({ service, collection, name }) => `${service}.${collection} ${name}`)
    const sent = broker.seen.slice(firstMessage)
    const asked = sent.filter(({ subject, sentAt }) => sentAt < answeredAt && services.test(subject))
    const events = sent.filter(({ subject }) => subject.startsWith('events.v1.')).length
    return { kind, cost: { commands: named.length, named, requests: asked.length, events, versions } }
  }

  await settled(1)
  await play(targets.won)
  const costs: Record<Kind, Cost[]> = { won: [], lost: [] }
  for (const wanted of ['won', 'lost'] as const) {
    const isWithin = () =>
      Math.min(...costs[wanted].map(({ commands }) => commands)) <= budgets[wanted].commands
    while (costs[wanted].length < rounds || (!isWithin() && costs[wanted].length < roundsMax)) {
      const { kind, cost } = await play(targets[wanted])
      costs[kind].push(cost)
    }
  }
  // Before the proxies go, which its last words pass.
  await stack.stop()
  const client = await MongoClient.connect(engines.mongodbUrl)
  t.teardown(() => client.close())
  await checkIndexes(t, client, engines.databasePrefix)
  const asked = database.seen.flatMap(({ command }) => {
    const { collection, queries } = queriesOf(command) ?? { collection: '', queries: [] }
    return queries.map((query) => ({ collection, query }))
  })
  t.strictSame([...new Set(await judgeQueries(asked))], [], 'MongoDB reads all of nothing')
  const page = readFileSync(new URL('../../../docs/mongodb.md', import.meta.url), 'utf8')
  const sent = [...new Set(database.seen.map(({ name }) => name))].toSorted()
  t.strictSame(
    sent.filter((name) => !page.includes(`\n| \`${name}\` |`)),
    [],
    'docs/mongodb.md has every command',
  )
  for (const [kind, budget] of Object.entries(budgets)) {
    const seen = costs[kind === 'won' ? 'won' : 'lost']
    for (const figure of ['commands', 'requests', 'events'] as const) {
      const least = Math.min(...seen.map((cost) => cost[figure]))
      const named = seen.find((cost) => cost.commands === least)?.named
      t.ok(least <= budget[figure], `${kind}: ${least} ${figure}`, { named })
    }
    for (const [collection, most] of Object.entries(budget.versions)) {
      const least = Math.min(...seen.map((cost) => cost.versions.get(collection) ?? 0))
      t.ok(least <= most, `${kind}: ${least} versions of ${collection}`)
    }
  }
})

/**
 * Whether the player's answer waits for it: neither a poll, which names its index, nor work behind the
 * answer.
 */
function isWaitedFor({ service, collection, command, text }: SeenCommand, ids: readonly string[]): boolean {
  const isOurs = service === 'rounds' || service === 'wallet_bridge'
  const isBehind = command.hint !== undefined || /^(report|return)_/.test(collection)
  return isOurs && !isBehind && ids.some((id) => text.includes(id))
}
