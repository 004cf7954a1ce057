import { listEvents } from '@pitboss/contracts/endpoints/events'
import { signBody } from '@pitboss/signing/body-signature'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

await t.test('an event is recorded, listed and delivered signed, byte for byte', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  const endpoint = await rig.createEndpoint(receiver.url)
  const event = await rig.publish()

  const [got] = await waitFor(() => (receiver.received.length > 0 ? receiver.received : null))
  t.equal(got?.body, event.body)
  const timestamp = String(got?.headers['x-svc-timestamp'])
  t.match(got?.headers, {
    'content-type': 'application/json',
    'user-agent': 'Pitboss-Webhooks/1',
    'x-svc-event-id': event.id,
    'x-svc-event-type': event.type,
    'x-svc-timestamp': /^[0-9]{10}$/,
    'x-svc-signature': `v1=${signBody(endpoint.secret ?? '', timestamp, event.body)}`,
    'x-svc-delivery-attempt': '1',
  })
  const { body } = await rig.call(listEvents, {
    caller: rig.caller(),
    params: {},
    query: { limit: 50 },
    body: undefined,
  })
  t.strictSame(body.data, [JSON.parse(event.body)])
  const delivered = await waitFor(async () => {
    const [delivery] = await rig.deliveries()
    return delivery?.status === 'DELIVERED' ? delivery : null
  })
  t.match(delivered, {
    attempt_count: 1,
    next_attempt_at: null,
    last_attempt: { http_status: 200, error: null },
  })
})
