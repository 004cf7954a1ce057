import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connectBus } from '@pitboss/bus/connect-bus'
import { newId } from '@pitboss/runtime/new-id'
import { createOperatorClient } from '@pitboss/testing/operator-client'
import { runOps } from '@pitboss/testing/run-ops'
import { sharedStack } from '@pitboss/testing/shared-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import { type Binary, MongoClient } from 'mongodb'
import { pino } from 'pino'
import { packText, unpackText } from '@pitboss/storage/packed'
import t from 'tap'
import { z } from 'zod'

const audited = z.object({ missing: z.array(z.looseObject({ type: z.string(), round_id: z.string() })) })
const republished = z.object({ events: z.array(z.looseObject({ event_id: z.string() })), recorded: z.int() })
const listed = z.object({ data: z.array(z.looseObject({ status: z.string() })) })
const connection = z.looseObject({ nats_url: z.string(), nats_nkey_seed: z.string().optional() })
type LogDocument = { _id: string; e: string; t: string; r?: string; b: Binary }

t.test('events that the stream and webhooks have lost are told again, each once', async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const from = new Date().toISOString()
  const window = () => ['--from', from, '--to', new Date().toISOString()]
  const audit = async () => audited.parse(await runOps(stack.dataDir, 'event', 'audit', ...window())).missing
  const republish = async (...more: string[]) =>
    republished.parse(await runOps(stack.dataDir, 'event', 'republish', ...window(), ...more))

  const operator = await createOperatorClient(demo)
  const statusesOf = async (id: string) => {
    const query = `event_id=${id}&webhook_id=${demo.receiver.webhook_id}`
    return listed.parse((await operator.call('GET', `/webhook-deliveries?${query}`)).body).data
  }
  const player = await operator.openSession({ player_id: 'lost', game: 'dice', currency: 'USD' })
  const rounds = []
  for (let count = 0; count < 3; count++) {
    const bet = { target: '98.00', direction: 'under' }
    const played = await player.call('POST', '/game/rounds', { stake: '1.00', bet })
    rounds.push(String(played.body.round_id))
  }
  const client = new MongoClient(demo.engines.mongodb.url)
  t.teardown(() => client.close())
  const db = client.db('pitboss_webhooks')
  const events = db.collection<LogDocument>('log')
  const own = { r: { $in: rounds } }
  const ends = { ...own, t: { $ne: 'round.started' } }
  await waitFor(async () => (await events.countDocuments(ends)) >= 6)
  await waitFor(async () => (await audit()).length === 0, { what: 'a clean audit', everyMs: 250 })
  const before = await events.find(ends).toArray()

  const { nats_url: url, nats_nkey_seed: nkeySeed } = connection.parse(
    JSON.parse(readFileSync(join(stack.dataDir, 'connection.json'), 'utf8')),
  )
  const bus = await connectBus({ url, nkeySeed, service: 'ops', logger: pino({ level: 'silent' }) })
  t.teardown(() => bus.close())
  await (await jetstreamManager(bus.nc)).streams.purge('EVENTS')
  // As if others had been recorded in their place, whose numbers the endpoint has passed.
  const ids = before.map(({ e }) => e)
  for (const { _id, e, b } of before) {
    const other = newId('evt')
    await events.updateOne(
      { _id },
      { $set: { e: other, b: packText(unpackText(b).replace(e, other)) }, $unset: { r: '' } },
    )
  }
  await db.collection('deliveries').deleteMany({ eventId: { $in: ids } })
  const items = { d: { e: { $in: ids } } }
  await db.collection<{ d: { e: string }[] }>('ranges').updateMany({ 'd.e': { $in: ids } }, { $pull: items })

  const key = ({ type, round_id }: { type: string; round_id: string }) => `${round_id} ${type}`
  const lost = before.map(({ t: type, r = '' }) => key({ type, round_id: r })).toSorted()
  t.strictSame((await audit()).map(key).toSorted(), lost, 'the audit names what is lost')
  t.equal((await republish('--dry-run')).events.length, lost.length)
  t.equal(await events.countDocuments(ends), 0, 'a dry run tells nothing')

  const runs = await Promise.all([republish('--yes', '--reason', 'lost'), republish('--yes')])
  for (const { events, recorded } of runs) t.equal(recorded, events.length)
  t.strictSame(await audit(), [], 'the audit is clean')
  const after = await events.find(ends).toArray()
  const facts = (found: LogDocument[]) => found.map(({ e, t: type, b }) => ({ e, type, b })).toSorted(byId)
  t.strictSame(
    facts(after),
    facts(before),
    'two persons at once made each event once, the same bytes as before',
  )
  await waitFor(
    async () => {
      const made = await Promise.all(ids.map((id) => statusesOf(id)))
      return made.every((found) => found.length === 1 && found[0]?.status === 'DELIVERED')
    },
    { what: 'a delivery of each event', everyMs: 250 },
  )
  t.same(await republish('--yes'), { events: [], recorded: 0 }, 'once more tells nothing')
})

function byId(one: { e: string }, other: { e: string }): number {
  return one.e < other.e ? -1 : 1
}
