import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connectBus } from '@pitboss/bus/connect-bus'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import t from 'tap'
import { beginConsumerAnew } from '../src/begin-consumer-anew.ts'

const { natsUrl } = await withEngines(t)
const bus = await connectBus({ url: natsUrl, service: 'ops', logger: pino({ level: 'silent' }) })
t.teardown(() => bus.close())
const manager = await jetstreamManager(bus.nc)

/** A stream of ten messages with a consumer, five of whose messages are at work. */
async function beginWork(ackWaitMs: number) {
  const stream = `REWIND_${randomUUID().slice(0, 8)}`
  await manager.streams.add({ name: stream, subjects: [`${stream}.>`] })
  const of = { stream, name: 'reader' }
  await manager.consumers.add(stream, {
    durable_name: of.name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * 1e6,
  })
  const js = jetstream(bus.nc)
  for (let number = 1; number <= 10; number += 1) await js.publish(`${stream}.x`, String(number))
  const consumer = await js.consumers.get(stream, of.name)
  const batch = []
  for await (const message of await consumer.fetch({ max_messages: 5, expires: 5000 })) batch.push(message)
  const info = () => manager.consumers.info(stream, of.name)
  t.teardown(() => manager.streams.delete(stream))
  return { of, batch, info, js }
}

t.test('messages at work are waited for, and then all come again', async (t) => {
  const { of, batch, info, js } = await beginWork(30_000)
  let isAnew = false
  const beginning = beginConsumerAnew(bus, { ...of, fromSeq: 2 }).then(() => {
    isAnew = true
  })
  await waitFor(async () => (await info()).paused === true, { what: 'nothing more to be handed out' })
  for (const message of batch) {
    t.notOk(isAnew, 'the former consumer still takes acknowledgements')
    await message.ackAck()
  }
  await beginning
  const { num_pending, num_ack_pending, paused } = await info()
  t.strictSame([num_pending, num_ack_pending, paused ?? false], [9, 0, false])
  const next = await (await js.consumers.get(of.stream, of.name)).next({ expires: 5000 })
  t.equal(next?.seq, 2)
})

t.test('what a dead reader holds is waited for no longer than the consumer would', async (t) => {
  const { of, info } = await beginWork(300)
  await beginConsumerAnew(bus, { ...of, fromSeq: 1 })
  t.equal((await info()).num_pending, 10)
})
