import { jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import t from 'tap'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { type DurableMessage, consumeDurable } from '../src/consume-durable.ts'
import { webhooksFanout } from '../src/topology.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

await t.test('a durable consumer', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger, lines } = memoryLogger()
  const bus = await connectBus({ url: natsUrl, service: 'webhooks', logger })
  t.teardown(() => bus.close())
  await applyTopology(bus.nc, { replicas: 1 })
  const manager = await jetstreamManager(bus.nc)

  let published = 0
  const publish = async (count: number) => {
    for (let sent = 0; sent < count; sent++) {
      published += 1
      await bus.publishEvent({
        id: `evt_${published}`,
        subject: 'events.v1.sandbox.op.round.completed',
        payload: Buffer.from(String(published)),
      })
    }
  }
  const batches: (readonly DurableMessage[])[] = []
  const seen = () => batches.flat().map((message) => message.id)
  let onBatch: (messages: readonly DurableMessage[]) => Promise<void> = async () => undefined
  const start = () =>
    consumeDurable({
      bus,
      stream: 'EVENTS',
      consumer: 'webhooks-fanout',
      batchMax: 10,
      logger,
      handle: async (messages) => {
        batches.push(messages)
        await onBatch(messages)
        for (const message of messages) message.ack()
      },
    })
  let worker = start()
  t.teardown(() => worker.stop())
  const allAcknowledged = () =>
    waitFor(
      async () => {
        const info = await manager.consumers.info('EVENTS', 'webhooks-fanout')
        return info.num_ack_pending === 0 && info.num_pending === 0
      },
      { what: 'all are acknowledged' },
    )

  await t.test('delivers in order, in batches of what is there, never more than asked for', async (t) => {
    await publish(35)
    await waitFor(() => seen().length >= 35, { what: 'all have come' })
    t.strictSame(
      seen(),
      Array.from({ length: 35 }, (_, index) => `evt_${index + 1}`),
    )
    t.ok(batches.every((batch) => batch.length <= 10))
    t.match(batches[0]?.[0], { seq: 1, redelivered: false, deliveryCount: 1, subject: /round\.completed$/ })
    await allAcknowledged()
  })

  await t.test('what a failed batch left unanswered comes again', async (t) => {
    onBatch = async (messages) => {
      onBatch = async () => undefined
      messages[0]?.ack()
      throw new Error('the database is away')
    }
    batches.length = 0
    await publish(1)
    await waitFor(() => batches.length === 1, { what: 'it was tried' })
    await publish(1)
    onBatch = async (messages) => {
      onBatch = async () => undefined
      t.equal(messages.length, 1)
      throw new Error('the database is away')
    }
    await publish(1)
    const again = await waitFor(() => batches.flat().find((message) => message.redelivered), {
      what: 'it comes again',
    })
    t.equal(again.deliveryCount, 2)
    await allAcknowledged()
    t.ok(lines.some((line) => line.msg === 'consumer.batch-failed'))
  })

  await t.test('a deleted and recreated consumer is taken up again', async (t) => {
    batches.length = 0
    await manager.consumers.delete('EVENTS', 'webhooks-fanout')
    await waitFor(() => lines.some((line) => /consumer\.(ended|interrupted)/.test(String(line.msg))), {
      what: 'the loss is noticed',
    })
    await manager.consumers.add('EVENTS', {
      ...webhooksFanout.config,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: 30,
    })
    await waitFor(() => seen().length >= published - 29, { what: 'it goes on from there' })
    t.equal(seen()[0], 'evt_30')
    await allAcknowledged()
  })

  await t.test('a reconnect only pauses it', async (t) => {
    batches.length = 0
    await bus.nc.reconnect()
    await waitFor(() => lines.some((line) => line.msg === 'nats.reconnected'), {
      what: 'the link is back',
    })
    await publish(3)
    await waitFor(() => seen().length >= 3, { what: 'they come' })
    t.strictSame(
      new Set(seen()),
      new Set([`evt_${published - 2}`, `evt_${published - 1}`, `evt_${published}`]),
    )
    await allAcknowledged()
  })

  await t.test(
    'stop() waits for the batch at work, and what was not handled stays for the next',
    async (t) => {
      batches.length = 0
      let release = () => {}
      onBatch = () => new Promise<void>((resolve) => void (release = resolve))
      await publish(1)
      await waitFor(() => batches.length === 1, { what: 'it is at work' })
      await publish(5)
      let stopped = false
      const stopping = worker.stop().then(() => void (stopped = true))
      await bus.nc.flush()
      t.notOk(stopped)
      release()
      await stopping
      t.equal(seen().length, 1)
      onBatch = async () => undefined
      worker = start()
      await waitFor(() => new Set(seen()).size === 6, { what: 'the rest come' })
      await allAcknowledged()
    },
  )
})
