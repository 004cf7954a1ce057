import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { startNats } from '@pitboss/engines/start-nats'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { applyTopology } from '../src/apply-topology.ts'
import { type Bus, connectBus } from '../src/connect-bus.ts'
import { consumeDurable } from '../src/consume-durable.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

await t.test('an answer to a message of before a restore is no answer to the one in its place', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'pitboss-restored-'))
  const dataDir = join(root, 'data')
  const copy = join(root, 'copy')
  const { NATS_URL: _, ...env } = process.env
  const accounts = [{ name: 'PITBOSS', users: [{ name: 'any', password: 'p' }] }]
  let nats = await startNats({ dataDir, env, accounts })
  const port = Number(new URL(nats.url).port)
  const url = nats.url.replace('nats://', 'nats://any:p@')
  const { logger } = memoryLogger()
  const connectOne = () => connectBus({ url, service: 'webhooks', logger })
  const [bus, other] = await Promise.all([connectOne(), connectOne()])
  t.teardown(async () => {
    await Promise.all([bus.close(), other.close()])
    await nats.stop()
    await rm(root, { recursive: true, force: true })
  })
  await applyTopology(bus.nc, { replicas: 1 })
  const whileDown = async (change: () => Promise<void>) => {
    await nats.stop()
    await waitFor(() => !bus.connected() && !other.connected(), { what: 'the loss is noticed' })
    await change()
    nats = await startNats({ dataDir, env, accounts, port })
    await waitFor(() => bus.connected() && other.connected(), { what: 'the link is back' })
  }
  await whileDown(() => cp(dataDir, copy, { recursive: true }))

  const publish = (id: string) =>
    bus.publishEvent({ id, subject: 'events.v1.live.op.round.started', payload: Buffer.from('{}') })
  const tried: string[] = []
  const recorded: string[] = []
  const firstWritten = Promise.withResolvers<void>()
  const startOne = (of: Bus) => {
    const worker = consumeDurable({
      ...{ bus: of, stream: 'EVENTS', consumer: 'webhooks-fanout', batchMax: 10, logger },
      handle: async (messages) => {
        for (const message of messages) {
          tried.push(message.id ?? '')
          if (message.id === 'evt_lost') await firstWritten.promise
          const isFirstTry = tried.filter((id) => id === message.id).length === 1
          if (message.id === 'evt_new' && isFirstTry) throw new Error('the database is away')
          recorded.push(message.id ?? '')
          message.ack()
        }
      },
    })
    t.teardown(() => worker.stop())
  }
  startOne(bus)

  t.equal((await publish('evt_lost')).seq, 1)
  await waitFor(() => tried.includes('evt_lost'), { what: 'the first is at work' })
  await whileDown(async () => {
    await rm(dataDir, { recursive: true })
    await cp(copy, dataDir, { recursive: true })
  })
  startOne(other)
  t.equal((await publish('evt_new')).seq, 1, 'the restored stream uses the sequence anew')
  const manager = await jetstreamManager(bus.nc)
  const state = () => manager.consumers.info('EVENTS', 'webhooks-fanout')
  await waitFor(async () => (await state()).delivered.stream_seq === 1, {
    what: 'the second is given',
  })
  firstWritten.resolve()
  await waitFor(() => tried.includes('evt_new'), { what: 'the second fails once' })
  await waitFor(() => recorded.includes('evt_new'), { what: 'the second comes again' })
  await waitFor(async () => (await state()).ack_floor.stream_seq === 1, {
    what: 'it is acknowledged',
  })
  t.strictSame(recorded.toSorted(), ['evt_lost', 'evt_new'])
})
