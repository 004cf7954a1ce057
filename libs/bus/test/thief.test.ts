import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { startNats } from '@pitboss/engines/start-nats'
import { waitFor } from '@pitboss/testing/wait-for'
import {
  connect,
  headers,
  type Msg,
  type NatsConnection,
  nkeyAuthenticator,
  PermissionViolationError,
} from 'nats'
import t from 'tap'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import { applyTopology } from '../src/apply-topology.ts'
import { type NatsUser, natsUsers } from '@pitboss/stack/nats/permissions'
import { eventSubject } from '../src/topology.ts'

/**
 * What a thief has who holds the key of one NATS user: everything that it may publish and hear is listed,
 * and compared with a table. Whoever widens a right changes the table, too.
 */

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const bet = eventSubject(scope, 'transaction.bet')
const won = eventSubject(scope, 'round.completed')
const opened = eventSubject(scope, 'game.session.created')
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
/** A request for one message that is answered at once, with one or without. */
const pullOne = JSON.stringify({ batch: 1, no_wait: true })

/** One user's connection that remembers what the server refused. */
type Thief = { nc: NatsConnection; refused: Set<string> }

const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-thief-'))
// A server of one's own would not have these users.
const { NATS_URL: _, ...env } = process.env
const nats = await startNats({ dataDir, env, accounts: natsAccounts })
const connections: NatsConnection[] = []
t.teardown(async () => {
  await Promise.all(connections.map((nc) => nc.close()))
  await nats.stop()
  await rm(dataDir, { recursive: true, force: true })
})

async function become(user: NatsUser): Promise<Thief> {
  const nc = await connect({
    servers: nats.url,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(nats.seeds[user])),
    inboxPrefix: `_INBOX.${user}`,
  })
  connections.push(nc)
  const refused = new Set<string>()
  const watch = async () => {
    for await (const status of nc.status()) {
      if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue
      const { operation, subject, queue } = status.error
      refused.add(`${operation} ${subject}${queue ? ` ${queue}` : ''}`)
    }
  }
  void watch()
  return { nc, refused }
}

/** Resolves when the server has judged everything that was sent before. */
let judgements = 0
async function judged({ nc, refused }: Thief): Promise<void> {
  const last = `nobody.may.${++judgements}`
  nc.publish(last)
  await waitFor(() => refused.has(`publish ${last}`), { what: 'the server has judged' })
}

/** Calls of each kind, and who may ask them. */
const askers: Readonly<Record<string, readonly NatsUser[]>> = {
  'auth.v1.keys.public': ['gateway', 'rounds', 'wallet-bridge', 'webhooks'],
  'auth.v1.stop-record.sign': ['rounds'],
  'auth.v1.principal.resolve': ['gateway'],
  'auth.v1.launch-token.mint': ['gateway'],
  'auth.v1.credential.create': ['gateway'],
  'auth.v1.audit.append': [],
  'auth.v1.audit.append.rounds': ['rounds'],
  'auth.v1.audit.append.wallet-bridge': ['wallet-bridge'],
  'auth.v1.audit.append.webhooks': ['webhooks'],
  'auth.v1.approval.need': [],
  'auth.v1.approval.need.rounds': ['rounds'],
  'auth.v1.approval.need.wallet-bridge': ['wallet-bridge'],
  'auth.v1.approval.show-approved': ['rounds', 'wallet-bridge'],
  'auth.v1.ops.key-rotate': ['ops'],
  'rounds.v1.player.play': ['gateway'],
  'rounds.v1.transaction.place': ['gateway'],
  'rounds.v1.session.currencies-in-use': ['auth'],
  'rounds.v1.game.change-approved': ['auth'],
  'rounds.v1.ops.game-set': ['ops'],
  'rounds.v1.ops.game-limits': ['ops'],
  'wallet.v1.wallet.put': ['gateway'],
  'wallet.v1.wallet.put-approved': ['auth'],
  'wallet.v1.callback.receive': ['gateway'],
  'wallet.v1.reconciliation.compare': ['gateway'],
  'wallet.v1.wallet.status': ['rounds'],
  'wallet.v1.balance.show': ['rounds'],
  'wallet.v1.movement.show': ['rounds'],
  'wallet.v1.movement.of-round': ['rounds', 'ops'],
  'wallet.v1.movement.place': ['rounds'],
  'wallet.v1.movement.void-stake': ['rounds'],
  'wallet.v1.ops.movement-resolve': ['ops'],
  'webhooks.v1.endpoint.create': ['gateway'],
  'webhooks.v1.delivery.list-for-dashboard': ['gateway'],
  'webhooks.v1.ops.parked-retry': ['ops'],
}
const asks = Object.keys(askers)
const askedBy = (user: NatsUser) => asks.filter((subject) => askers[subject]?.includes(user))

const publishProbes = [
  ...services.flatMap((service) => {
    const root = service === 'wallet-bridge' ? 'wallet' : service
    return [`${root}.v1.noun.verb`, `${root}.v1.ops.verb`]
  }),
  ...asks,
  bet,
  won,
  opened,
  '$KV.access.platform',
  'access.news.platform',
  'wake.rounds.due',
  'wake.wallet.due',
  'wake.webhooks.due',
  'wb.breakers.v2',
  'copies.rounds.drop',
  'copies.wallet-bridge.drop',
  'copies.webhooks.drop',
  'webhooks.tail.v1.op.SANDBOX.events',
  'wallet.tail.v1.op.SANDBOX.movements',
  'gateway.tail.v1.op.SANDBOX.requests',
  'gateway.tail.accounts',
  'gw.limits.counts',
  ...natsUsers.map((user) => `_INBOX.${user}.x.y`),
  '_INBOX.x',
  '_R_.x.y',
  '$SRV.PING',
  '$SRV.PING.gateway',
  ...services.flatMap((service) => [
    `$SRV.PING.${service}`,
    `$SRV.INFO.${service}`,
    `$SRV.STATS.${service}.x`,
  ]),
  '$JS.API.INFO',
  '$JS.API.STREAM.NAMES',
  ...['EVENTS', 'KV_access'].flatMap((stream) => [
    ...['INFO', 'CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.GET', 'MSG.DELETE', 'SNAPSHOT'].map(
      (verb) => `$JS.API.STREAM.${verb}.${stream}`,
    ),
    `$JS.API.CONSUMER.NAMES.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.x`,
    ...['CREATE', 'DELETE', 'INFO', 'PAUSE', 'MSG.NEXT'].map(
      (verb) => `$JS.API.CONSUMER.${verb}.${stream}.x`,
    ),
    `$JS.ACK.${stream}.x.1.1.1.1.1`,
    `$JS.FC.${stream}.x.y`,
  ]),
  `$JS.API.CONSUMER.CREATE.EVENTS.rounds-movements.events.v1.*.*.transaction.>`,
  `$JS.API.CONSUMER.CREATE.EVENTS.rounds-movements.events.v1.>`,
  `$JS.API.CONSUMER.CREATE.EVENTS.webhooks-fanout.events.v1.>`,
  ...['webhooks-fanout', 'rounds-movements'].flatMap((consumer) => [
    ...['CREATE', 'DELETE', 'INFO', 'PAUSE', 'MSG.NEXT'].map(
      (verb) => `$JS.API.CONSUMER.${verb}.EVENTS.${consumer}`,
    ),
    `$JS.ACK.EVENTS.${consumer}.1.1.1.1.1`,
    `$JS.ACK._.hash.EVENTS.${consumer}.1.1.1.1.1`,
  ]),
  '$JS.EVENT.ADVISORY.x',
  '$SYS.REQ.USER.INFO',
  '$SYS.REQ.SERVER.PING',
]

const subscribeProbes: readonly (readonly [subject: string, queue?: string])[] = [
  ['>'],
  ['*.>'],
  ['_INBOX.>'],
  ['_INBOX.*.x'],
  ...natsUsers.map((user) => [`_INBOX.${user}.>`] as const),
  ['_R_.>'],
  ['$SRV.>'],
  ['$SRV.PING'],
  ['$SRV.PING.>'],
  ...['gateway', ...services].flatMap((name) => [[`$SRV.PING.${name}`], [`$SRV.STATS.${name}.x`]] as const),
  ...['auth', 'rounds', 'wallet', 'webhooks'].flatMap(
    (root) =>
      [
        [`${root}.v1.>`],
        [`${root}.v1.>`, root === 'wallet' ? 'wallet-bridge' : root],
        [`${root}.v1.>`, 'other'],
        [`${root}.v1.noun.verb`],
      ] as const,
  ),
  ['events.v1.>'],
  ['$KV.>'],
  ['$KV.access.>'],
  ['access.news.>'],
  ['wake.>'],
  ['wake.rounds.>'],
  ['wake.wallet.>'],
  ['wake.webhooks.>'],
  ['wb.breakers.>'],
  ['copies.>'],
  ['copies.rounds.>'],
  ['copies.wallet-bridge.>'],
  ['copies.webhooks.>'],
  ['webhooks.tail.v1.>'],
  ['wallet.tail.v1.>'],
  ['gateway.tail.v1.>'],
  ['gateway.tail.accounts'],
  ['gw.limits.>'],
  ['$JS.>'],
  ['$JS.API.>'],
  ['$JS.ACK.>'],
  ['$JS.API.CONSUMER.MSG.NEXT.EVENTS.webhooks-fanout'],
  ['$JS.API.CONSUMER.MSG.NEXT.EVENTS.rounds-movements'],
  ['$JS.EVENT.>'],
  ['$SYS.>'],
]

/** What each user may publish of `publishProbes`. */
const mayPublish: Readonly<Record<NatsUser, readonly string[]>> = {
  gateway: [
    ...askedBy('gateway'),
    'gateway.tail.v1.op.SANDBOX.requests',
    'gateway.tail.accounts',
    'gw.limits.counts',
    '_R_.x.y',
    '$SRV.PING.auth',
    '$SRV.PING.rounds',
    '$SRV.PING.wallet-bridge',
    '$SRV.PING.webhooks',
  ],
  auth: [...askedBy('auth'), '$KV.access.platform', '_R_.x.y', '$SRV.PING.rounds', '$SRV.PING.wallet-bridge'],
  rounds: [
    ...askedBy('rounds'),
    won,
    opened,
    'copies.rounds.drop',
    '_R_.x.y',
    '$SRV.PING.auth',
    '$SRV.PING.wallet-bridge',
    '$JS.API.STREAM.INFO.EVENTS',
    '$JS.API.STREAM.MSG.GET.EVENTS',
    '$JS.API.CONSUMER.CREATE.EVENTS.rounds-movements.events.v1.*.*.transaction.>',
    '$JS.API.CONSUMER.INFO.EVENTS.webhooks-fanout',
    '$JS.API.CONSUMER.INFO.EVENTS.rounds-movements',
    '$JS.API.CONSUMER.MSG.NEXT.EVENTS.rounds-movements',
    '$JS.ACK.EVENTS.rounds-movements.1.1.1.1.1',
    '$JS.ACK._.hash.EVENTS.rounds-movements.1.1.1.1.1',
  ],
  'wallet-bridge': [
    ...askedBy('wallet-bridge'),
    bet,
    'wake.wallet.due',
    'wb.breakers.v2',
    'copies.wallet-bridge.drop',
    'wallet.tail.v1.op.SANDBOX.movements',
    '_R_.x.y',
    '$SRV.PING.auth',
    '$SRV.PING.rounds',
    '$SRV.PING.webhooks',
    '$JS.API.STREAM.INFO.EVENTS',
    '$JS.API.CONSUMER.INFO.EVENTS.webhooks-fanout',
  ],
  webhooks: [
    ...askedBy('webhooks'),
    'wake.webhooks.due',
    'copies.webhooks.drop',
    'webhooks.tail.v1.op.SANDBOX.events',
    '_R_.x.y',
    '$SRV.PING.auth',
    '$JS.API.STREAM.INFO.EVENTS',
    '$JS.API.STREAM.MSG.GET.EVENTS',
    '$JS.API.CONSUMER.CREATE.EVENTS.webhooks-fanout',
    '$JS.API.CONSUMER.INFO.EVENTS.webhooks-fanout',
    '$JS.API.CONSUMER.MSG.NEXT.EVENTS.webhooks-fanout',
    '$JS.ACK.EVENTS.webhooks-fanout.1.1.1.1.1',
    '$JS.ACK._.hash.EVENTS.webhooks-fanout.1.1.1.1.1',
  ],
  ops: publishProbes.filter(
    (subject) => askedBy('ops').includes(subject) || /^\$JS\.API\.|^\$SRV\.[A-Z]+\./.test(subject),
  ),
}

/** What each user may hear of `subscribeProbes`; the word behind a subject is a queue group. */
const mayHear: Readonly<Record<NatsUser, readonly string[]>> = {
  gateway: [
    '_INBOX.gateway.>',
    '$SRV.PING',
    '$SRV.PING.gateway',
    '$SRV.STATS.gateway.x',
    'access.news.>',
    'webhooks.tail.v1.>',
    'wallet.tail.v1.>',
    'gateway.tail.v1.>',
    'gateway.tail.accounts',
    'gw.limits.>',
  ],
  auth: ['_INBOX.auth.>', '$SRV.PING', '$SRV.PING.auth', '$SRV.STATS.auth.x', 'auth.v1.> auth'],
  rounds: [
    '_INBOX.rounds.>',
    '$SRV.PING',
    '$SRV.PING.rounds',
    '$SRV.STATS.rounds.x',
    'rounds.v1.> rounds',
    'copies.rounds.>',
  ],
  'wallet-bridge': [
    '_INBOX.wallet-bridge.>',
    '$SRV.PING',
    '$SRV.PING.wallet-bridge',
    '$SRV.STATS.wallet-bridge.x',
    'wallet.v1.> wallet-bridge',
    'wake.wallet.>',
    'wb.breakers.>',
    'copies.wallet-bridge.>',
    'gateway.tail.accounts',
  ],
  webhooks: [
    '_INBOX.webhooks.>',
    '$SRV.PING',
    '$SRV.PING.webhooks',
    '$SRV.STATS.webhooks.x',
    'webhooks.v1.> webhooks',
    'wake.webhooks.>',
    'copies.webhooks.>',
    'gateway.tail.accounts',
  ],
  ops: ['_INBOX.ops.>'],
}

await t.test('each user may publish and hear what its line says, and nothing else', async (t) => {
  for (const user of natsUsers) {
    const thief = await become(user)
    for (const subject of publishProbes) thief.nc.publish(subject)
    for (const [subject, queue] of subscribeProbes) {
      thief.nc.subscribe(subject, { callback: () => undefined, ...(queue === undefined ? {} : { queue }) })
    }
    await judged(thief)
    t.strictSame(
      publishProbes.filter((subject) => !thief.refused.has(`publish ${subject}`)),
      mayPublish[user],
      `${user} publishes`,
    )
    t.strictSame(
      subscribeProbes
        .map((probe) => probe.join(' '))
        .filter((probe) => !thief.refused.has(`subscription ${probe}`)),
      mayHear[user],
      `${user} hears`,
    )
    await thief.nc.close()
  }
})

/** Holds the calls that reach a service, and answers when it is told. */
async function hold(service: (typeof services)[number], subject: string) {
  const { nc } = await become(service)
  const held: Msg[] = []
  nc.subscribe(subject, { queue: service, callback: (_err, message) => void held.push(message) })
  await nc.flush()
  return { nc, held }
}

await t.test(
  'an answer to another one is refused, even where the thief knows the reply subject',
  async (t) => {
    const asked = [
      ['gateway', 'auth', 'auth.v1.keys.public'],
      ['ops', 'auth', 'auth.v1.ops.status'],
      ['rounds', 'wallet-bridge', 'wallet.v1.movement.place'],
      ['auth', 'rounds', 'rounds.v1.session.currencies-in-use'],
      ['gateway', 'webhooks', 'webhooks.v1.endpoint.list'],
    ] as const
    for (const [asker, service, subject] of asked) {
      const { nc, held } = await hold(service, subject)
      const victim = await become(asker)
      const inboxes: string[] = []
      const publish = victim.nc.publish.bind(victim.nc)
      victim.nc.publish = (to, data, options) => {
        if (options?.reply !== undefined) inboxes.push(options.reply)
        publish(to, data, options)
      }
      const answer = victim.nc.request(subject, 'question', { timeout: 20_000 })
      await waitFor(() => held.length === 1, { what: 'the call arrives' })
      const [call] = held
      const replies = new Set([...inboxes, call?.reply ?? ''])
      for (const user of natsUsers) {
        if (user === service) continue
        const thief = await become(user)
        for (const reply of replies) thief.nc.publish(reply, 'forged')
        await judged(thief)
        // Whoever answers calls of its own may publish answers; they reach nobody else's callers.
        const refusable = [...replies].filter((reply) => reply.startsWith('_INBOX.'))
        t.strictSame(
          refusable.filter((reply) => thief.refused.has(`publish ${reply}`)),
          refusable,
          `${user} cannot answer ${asker} in place of ${service}`,
        )
        await thief.nc.close()
      }
      call?.respond('true')
      t.equal((await answer).string(), 'true', `${service} is believed by ${asker}`)
      await Promise.all([nc.close(), victim.nc.close()])
    }
  },
)

/**
 * NATS looks at where a message goes, never at the reply subject that it names; and the server itself
 * publishes answers there, as JetStream does for each of its requests. So a thief names every subject it
 * must not publish to as the reply subject of all that it may publish.
 */
await t.test('no reply subject carries a thief further than its own rights', async (t) => {
  const ops = await become('ops')
  await applyTopology(ops.nc, { replicas: 1 })
  const manager = await jetstreamManager(ops.nc)
  const connect = async (user: NatsUser) => ({ user, ...(await become(user)) })
  const others = await Promise.all(natsUsers.filter((user) => user !== 'ops').map(connect))
  const arrived: { user: NatsUser; subject: string }[] = []
  const listen = ({ user, nc }: { user: NatsUser; nc: NatsConnection }) => {
    for (const [subject, queue] of subscribeProbes) {
      if (!mayHear[user].includes(queue === undefined ? subject : `${subject} ${queue}`)) continue
      const callback = (_err: Error | null, message: Msg) =>
        void arrived.push({ user, subject: message.subject })
      nc.subscribe(subject, { callback, ...(queue === undefined ? {} : { queue }) })
    }
  }
  for (const other of others) listen(other)
  listen({ user: 'ops', nc: ops.nc })
  await Promise.all([...others, ops].map(({ nc }) => nc.flush()))
  // Something to pull for each consumer; without an id each is stored.
  const feed = async () => {
    for (const [user, subject] of [
      ['wallet-bridge', bet],
      ['rounds', won],
    ] as const) {
      await others.find((other) => other.user === user)?.nc.request(subject, '{}', { timeout: 20_000 })
    }
  }

  for (const user of natsUsers) {
    if (user === 'ops') continue
    const own = mayPublish[user]
    const targets = publishProbes.filter((subject) => !own.includes(subject))
    await feed()
    const before = await look()
    arrived.length = 0
    const thief = await become(user)
    const heard: string[] = []
    for (const subject of mayHear[user].filter((probe) => !probe.includes(' '))) {
      thief.nc.subscribe(subject, { callback: (_err, message) => void heard.push(message.subject) })
    }
    for (const subject of own) {
      for (const target of targets) {
        for (const data of ['', '{}', pullOne]) thief.nc.publish(subject, data, { reply: target })
        const head = headers()
        head.set('Nats-Trace-Dest', target)
        thief.nc.publish(subject, '{}', { headers: head })
        // What it has just heard, it may be let to answer.
        thief.nc.publish(target, 'laundered')
      }
      await thief.nc.flush()
      for (const target of targets) thief.nc.publish(target, 'laundered')
      await feed()
    }
    await judged(thief)
    // Streams and consumers work off what comes to them in order: what is answered last was asked last.
    for (const subject of own.filter((one) => /^(events|\$KV|\$JS\.API)\./.test(one))) {
      await thief.nc.request(subject, pullOne, { timeout: 20_000, noMux: true })
    }
    const after = await look()
    await Promise.all([...others, ops].map(({ nc }) => nc.flush()))
    const told = own.includes('$KV.access.platform') ? ['access.news.platform'] : []
    const reached = arrived.filter((one) => one.user !== user).map(({ subject }) => subject)
    t.strictSame(
      targets.filter((target) => reached.includes(target) && !told.includes(target)),
      [],
      `${user} reaches nobody else`,
    )
    const stored = after.stored.filter((subject) => before.stored.includes(subject) || !own.includes(subject))
    t.strictSame({ ...after, stored }, before, `${user} changes no stream of others`)
    await thief.nc.close()
  }

  /** What the streams hold, and what their consumers have behind them. */
  async function look() {
    const [events, access] = await Promise.all(
      ['EVENTS', 'KV_access'].map((name) => manager.streams.info(name, { subjects_filter: '>' })),
    )
    const consumers = await manager.consumers.list('EVENTS').next()
    return {
      stored: [events, access].flatMap((info) => Object.keys(info?.state.subjects ?? {})).toSorted(),
      // Nothing of it is purged.
      eventsFrom: events?.state.first_seq,
      consumers: consumers.map(({ name }) => name).toSorted(),
    }
  }
})
