import { eventSubject } from '@pitboss/bus/topology'
import { opsMissingEvents } from '@pitboss/contracts/calls/webhooks'
import { listEvents } from '@pitboss/contracts/endpoints/events'
import { newId } from '@pitboss/runtime/new-id'
import { eventIdOf } from '@pitboss/storage/event-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('a fact is told once, by the event of an earlier release or by one made again', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  await rig.createEndpoint(receiver.url)
  const type = 'transaction.bet'
  const fact = () => {
    const data = { round_id: newId('rnd'), reference: newId('txn'), transaction_id: newId('bet') }
    return {
      data,
      id: eventIdOf(rig.scope, { type, about: data.transaction_id, of: data.round_id }),
      earlierId: newId('evt'),
    }
  }
  const publish = async (id: string, data: object) => {
    const { operatorId: operator_id, environment } = rig.scope
    const body = { id, type, created_at: new Date().toISOString(), environment, operator_id, data }
    const payload = new TextEncoder().encode(JSON.stringify(body))
    await rig.bus.publishEvent({ id, subject: eventSubject(rig.scope, type), payload })
  }
  const recorded = async () =>
    (await rig.collections.log.find().sort({ _id: 1 }).toArray()).map(({ e }) => [e].flat()[0] ?? '')
  const missing = async (...facts: { id: string; data: { round_id: string } }[]) => {
    const events = facts.map(({ id, data }) => ({ event_id: id, round_id: data.round_id }))
    return (await rig.bus.call(opsMissingEvents, { events })).data
  }
  const [first, second, third, fourth] = [fact(), fact(), fact(), fact()]
  const last = fact()
  t.strictSame(await missing(first, second), [first.id, second.id])

  await publish(first.earlierId, first.data)
  await publish(second.id, second.data)
  await waitFor(async () => (await recorded()).length === 2)
  t.strictSame(await missing(first, second), [], 'told under whatever id')
  await publish(first.id, first.data)
  await publish(second.earlierId, second.data)
  await Promise.all([publish(third.earlierId, third.data), publish(third.id, third.data)])

  // As an earlier release recorded it.
  await publish(fourth.earlierId, fourth.data)
  await waitFor(async () => (await recorded()).includes(fourth.earlierId))
  const { earlierId } = fourth
  await rig.collections.log.updateOne({ e: earlierId }, { $set: { e: earlierId } })
  t.strictSame(await missing(fourth), [], 'an audit finds it by its round')

  await publish(last.id, last.data)
  await waitFor(() => receiver.eventIds().includes(last.id))
  const found = await recorded()
  const tellers = [first, second, third, fourth, last].map(({ id, earlierId }) =>
    found.filter((one) => one === id || one === earlierId),
  )
  t.strictSame(
    tellers.map(({ length }) => length),
    [1, 1, 1, 1, 1],
  )
  t.strictSame(tellers.slice(0, 2).flat(), [first.earlierId, second.id], 'the one that came first stands')
  await waitFor(() => receiver.received.length === found.length)
  t.strictSame(receiver.eventIds().toSorted(), found.toSorted())
  const { body } = await rig.call(listEvents, {
    ...{ caller: rig.caller(), params: {}, query: { limit: 50 }, body: undefined },
  })
  t.strictSame(
    body.data.map(({ id }) => id),
    found,
    'pollers meet each fact once',
  )
})
