import { readdirSync, readFileSync } from 'node:fs'
import { eventSubject } from '@pitboss/bus/topology'
import { createWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import { unpackText } from '@pitboss/storage/packed'
import t from 'tap'
import { z } from 'zod'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig, testCaller } from './fixtures/rig.ts'

const folder = new URL('../../../proof/chaos/exchanges/', import.meta.url)
const recording = z.looseObject({ messages: z.array(z.object({ id: z.string(), body: z.string() })) })
const envelope = z.looseObject({
  ...{ id: z.string(), type: z.string(), operator_id: z.string() },
  environment: z.enum(['SANDBOX', 'LIVE']),
})

for (const file of readdirSync(folder)) {
  t.test(`messages of ${file} are recorded and delivered, byte for byte`, async (t) => {
    const { messages } = recording.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')))
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    const sent = messages.map(({ id, body }) => ({ id, body, of: envelope.parse(JSON.parse(body)) }))
    const scopes = new Map(
      sent.map(({ of: { operator_id: operatorId, environment } }) => [
        `${operatorId}/${environment}`,
        { operatorId, environment },
      ]),
    )
    t.ok(sent.length > 0)
    for (const scope of scopes.values()) {
      await rig.call(createWebhook, {
        ...{ caller: testCaller(scope), params: {}, query: {} },
        body: { url: receiver.url, environment: scope.environment === 'LIVE' ? 'LIVE' : 'TEST', events: [] },
      })
    }
    for (const { id, body, of } of sent) {
      const subject = eventSubject({ operatorId: of.operator_id, environment: of.environment }, of.type)
      await rig.bus.publishEvent({ id, subject, payload: new TextEncoder().encode(body) })
    }
    await waitFor(() => receiver.received.length >= sent.length, { what: 'every event to come' })
    const bodies = (texts: readonly string[]) => texts.toSorted()
    const all = bodies(sent.map(({ body }) => body))
    t.strictSame(bodies(receiver.received.map(({ body }) => body)), all)
    const recorded = await rig.collections.log.find().toArray()
    t.strictSame(bodies(recorded.map(({ b }) => unpackText(b))), all)
    t.equal(await rig.collections.parked.countDocuments(), 0)
  })
}
