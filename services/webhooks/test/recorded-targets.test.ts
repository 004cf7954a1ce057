import { deleteWebhook, patchWebhook } from '@pitboss/contracts/endpoints/webhooks'
import type { EventType } from '@pitboss/contracts/objects/event'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('events are recorded for endpoints as they were answered, whichever replica records', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const receiver = await startReceiver(t)
  const caller = rig.caller({ eitherEnvironment: true })
  const at = (webhook_id: string) => ({ caller, params: { webhook_id }, query: {} })

  /** Publishes an event. @returns for which endpoints it was recorded */
  async function recordedFor(type: EventType): Promise<readonly string[]> {
    const { id } = await rig.publish({ type })
    const recorded = await waitFor(() => rig.collections.log.findOne({ e: id }), { what: 'it is recorded' })
    return [...recorded.targets].toSorted()
  }

  t.strictSame(await recordedFor('transaction.bet'), [], 'an account without endpoints is remembered, too')
  const created: string[] = []
  for (let count = 0; count < 6; count++) {
    const { webhook_id } = await rig.createEndpoint(receiver.url, ['transaction.bet'])
    created.push(webhook_id)
    t.strictSame(await recordedFor('transaction.bet'), created.toSorted(), 'one more')
  }
  const [three, others] = [created.slice(0, 3), created.slice(3)]
  for (const [index, id] of three.entries()) {
    await rig.call(patchWebhook, { ...at(id), body: { events: ['transaction.win'] } })
    t.strictSame(
      await recordedFor('transaction.bet'),
      created.slice(index + 1).toSorted(),
      'one that takes others',
    )
    t.ok((await recordedFor('transaction.win')).includes(id))
  }
  for (const id of others) {
    await rig.call(deleteWebhook, { ...at(id), body: undefined })
    t.notOk((await recordedFor('transaction.bet')).includes(id), 'one that is gone')
  }
})
