import { listWebhookCertifications } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('the core without wings records an event and delivers it', async (t) => {
  const rig = await startRig(t, { wings: [] })
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const event = await rig.publish()
  const [got] = await waitFor(() => (receiver.received.length > 0 ? receiver.received : null))
  t.equal(got?.body, event.body)
  await waitFor(async () => (await rig.deliveries())[0]?.status === 'DELIVERED')
  const left = rig.call(listWebhookCertifications, {
    ...{ caller: rig.caller(), params: { webhook_id }, query: { limit: 10 }, body: undefined },
  })
  await t.rejects(left, { code: 'SERVICE_UNAVAILABLE' }, 'nobody answers for a wing that is left out')
})
