import { jetstreamManager } from '@nats-io/jetstream'
import { withEngines } from '@pitboss/testing/with-engines'
import { nanos } from 'nats'
import t from 'tap'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { accessStream, eventSubject, eventsStream, topology, webhooksFanout } from '../src/topology.ts'
import { isFull } from '../src/watch-fullness.ts'
import { waitForTopology } from '../src/consume-durable.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'SANDBOX' } as const

await t.test('topology', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger, lines } = memoryLogger()
  const bus = await connectBus({ url: natsUrl, service: 'ops', logger })
  t.teardown(() => bus.close())
  const manager = await jetstreamManager(bus.nc)

  await t.test('a service waits until the topology is there', async (t) => {
    const waiting = waitForTopology({
      bus,
      consumers: [{ stream: 'EVENTS', name: 'webhooks-fanout' }],
      logger,
    })
    const planned = await applyTopology(bus.nc, { replicas: 1, dryRun: true })
    t.ok(planned.length >= 4 && planned.every(({ change }) => change === 'created'))
    t.strictSame(await applyTopology(bus.nc, { replicas: 1 }), planned)
    await waiting
    t.ok(lines.some((line) => line.msg === 'topology.awaited'))
  })

  await t.test(
    'what is declared is what the server holds, and applying it again changes nothing',
    async (t) => {
      const before = await manager.streams.info('EVENTS')
      const changes = await applyTopology(bus.nc, { replicas: 1 })
      t.ok(changes.every(({ change }) => change === 'none'))
      const events = await manager.streams.info('EVENTS')
      t.strictSame(events.config, before.config)
      t.match(events.config, eventsStream)
      t.match((await manager.streams.info('KV_access')).config, accessStream)
      for (const { stream, config } of topology.consumers) {
        t.match((await manager.consumers.info(stream, config.durable_name ?? '')).config, config)
      }
    },
  )

  await t.test('a drifted stream and consumer are put right, data and position kept', async (t) => {
    await bus.publishEvent({
      id: 'evt_1',
      subject: eventSubject(scope, 'round.started'),
      payload: Buffer.from('{}'),
    })
    await manager.streams.update('EVENTS', { max_age: nanos(3_600_000) })
    await manager.consumers.update('EVENTS', 'webhooks-fanout', { max_ack_pending: 5 })
    const planned = await applyTopology(bus.nc, { replicas: 1, dryRun: true })
    t.strictSame(
      planned.filter(({ change }) => change !== 'none').map(({ what, change }) => [what, change]),
      [
        ['stream EVENTS', 'updated'],
        ['consumer webhooks-fanout', 'updated'],
      ],
    )
    t.match(planned[0]?.differences, [/^max_age: wanted \d+, got 3600000000000$/])
    t.equal(
      (await manager.streams.info('EVENTS')).config.max_age,
      nanos(3_600_000),
      'a dry run changes nothing',
    )
    await applyTopology(bus.nc, { replicas: 1 })
    const info = await manager.streams.info('EVENTS')
    t.equal(info.config.max_age, eventsStream.max_age)
    t.equal(info.state.messages, 1)
    const consumer = await manager.consumers.info('EVENTS', 'webhooks-fanout')
    t.equal(consumer.config.max_ack_pending, webhooksFanout.config.max_ack_pending)
  })

  await t.test('a consumer that was rewound to another start is left where it is', async (t) => {
    await manager.consumers.delete('EVENTS', 'webhooks-fanout')
    await manager.consumers.add('EVENTS', {
      ...webhooksFanout.config,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: 1,
    })
    await applyTopology(bus.nc, { replicas: 1 })
    const { config } = await manager.consumers.info('EVENTS', 'webhooks-fanout')
    t.equal(config.opt_start_seq, 1)
  })

  await t.test('a stream takes the bounds that it is given, and none that it is beyond', async (t) => {
    const bounded = (maxBytes: number) =>
      applyTopology(bus.nc, { replicas: 1, events: { maxBytes, hours: 168 } })
    const [first] = await bounded(4096)
    t.match(first?.differences, [/^max_age/, /^max_bytes: wanted 4096, got -1/])
    t.match((await manager.streams.info('EVENTS')).config, {
      ...{ max_bytes: 4096, max_age: nanos(7 * 24 * 3_600_000), discard: 'new' },
    })
    const send = (id: string, bytes: number) =>
      bus.publishEvent({
        ...{ id, subject: eventSubject(scope, 'round.started') },
        payload: Buffer.alloc(bytes, 'x'),
      })
    await send('evt_large', 3000)
    t.ok(isFull(await send('evt_more', 3000).catch((error: unknown) => error)))
    t.notOk(
      isFull(
        await bus
          .publishEvent({ id: 'evt_4', subject: 'nowhere.v1.x', payload: Buffer.from('') })
          .catch((error: unknown) => error),
      ),
    )
    t.ok((await manager.streams.info('EVENTS')).state.messages > 0, 'what it has it keeps')
    await t.rejects(bounded(1024), { message: /stream EVENTS holds \d+ bytes, and may hold 1024/ })
    await bounded(1_048_576)
    t.ok((await send('evt_more', 3000)).seq > 0)
    await applyTopology(bus.nc, { replicas: 1 })
  })

  await t.test('a field that the server holds differently is named', async (t) => {
    const odd = { ...eventsStream, name: 'ODD', subjects: ['odd.>'], max_bytes: 0 }
    await t.rejects(applyTopology(bus.nc, { replicas: 1, streams: [odd], consumers: [] }), {
      message: /stream ODD: max_bytes: wanted 0, got -1/,
    })
  })

  await t.test('an event is published once under its id, however often it is sent', async (t) => {
    const event = {
      id: 'evt_2',
      subject: eventSubject(scope, 'game.session.created'),
      payload: Buffer.from('{"a":1}'),
    }
    const before = (await manager.streams.info('EVENTS')).state.messages
    await bus.publishEvent(event)
    await bus.publishEvent(event)
    t.equal((await manager.streams.info('EVENTS')).state.messages, before + 1)
    const stored = await manager.streams.getMessage('EVENTS', { last_by_subj: event.subject })
    t.equal(event.subject, `events.v1.sandbox.${scope.operatorId}.game.session.created`)
    t.equal(stored?.string(), '{"a":1}')
    t.equal(stored?.header.get('Nats-Msg-Id'), 'evt_2')
  })

  await t.test('without a stream behind its subject an event is not taken for published', async (t) => {
    await t.rejects(bus.publishEvent({ id: 'evt_3', subject: 'nowhere.v1.x', payload: Buffer.from('{}') }))
  })
})
