import { eventSubject } from '@pitboss/bus/topology'
import { opsMissingEvents } from '@pitboss/contracts/calls/webhooks'
import { listEvents } from '@pitboss/contracts/endpoints/events'
import { newId } from '@pitboss/runtime/new-id'
import { eventIdOf } from '@pitboss/storage/event-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('a fact is told once, however often its event is made again', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  await rig.createEndpoint(receiver.url)
  const type = 'transaction.bet'
  const fact = () => {
    const data = { round_id: newId('rnd'), reference: newId('txn'), transaction_id: newId('bet') }
    return { data, id: eventIdOf(rig.scope, { type, about: data.transaction_id, of: data.round_id }) }
  }
  /** Past the memory of the stream, which takes no message id twice. */
  const publish = async ({ id, data }: ReturnType<typeof fact>) => {
    const { operatorId: operator_id, environment } = rig.scope
    const body = { id, type, created_at: new Date().toISOString(), environment, operator_id, data }
    rig.bus.publish(eventSubject(rig.scope, type), new TextEncoder().encode(JSON.stringify(body)))
  }
  const recorded = async () => (await rig.collections.log.find().sort({ _id: 1 }).toArray()).map(({ e }) => e)
  const missing = async (...facts: { id: string; data: { round_id: string } }[]) => {
    const events = facts.map(({ id, data }) => ({ event_id: id, round_id: data.round_id }))
    return (await rig.bus.call(opsMissingEvents, { events })).data
  }
  const [first, second, last] = [fact(), fact(), fact()]
  t.strictSame(await missing(first, second), [first.id, second.id])

  await publish(first)
  await waitFor(async () => (await recorded()).length === 1)
  t.strictSame(await missing(first, second), [second.id])
  await Promise.all([publish(first), publish(second), publish(second)])
  await publish(last)
  await waitFor(() => receiver.eventIds().includes(last.id))
  t.strictSame(await missing(first, second, last), [])
  const found = await recorded()
  t.strictSame(found, [first.id, second.id, last.id])
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
