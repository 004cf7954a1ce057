import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createWebhook, getWebhook, patchWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { webhookCreateSchema, webhookPatchSchema } from '@pitboss/contracts/objects/webhook'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig, testCaller } from './fixtures/rig.ts'

/** A receiver that answers nothing until it is told to. */
async function startHanging(t: Test) {
  const open: ServerResponse[] = []
  const receiver = await startReceiver(t, (response) => open.push(response))
  return {
    ...receiver,
    open: () => open.length,
    answerAll() {
      receiver.answer((response) => response.end())
      for (const response of open.splice(0)) response.end()
    },
  }
}

const create = (rig: Rig, url: string, maxInFlight?: number) =>
  rig.call(createWebhook, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: { url, environment: 'TEST', events: [], max_in_flight: maxInFlight },
  })

const publishMany = (rig: Rig, count: number) =>
  Promise.all(Array.from({ length: count }, () => rig.publish()))

t.test('an endpoint has as many attempts in flight as max_in_flight says, eight unless given', async (t) => {
  const rig = await startRig(t)
  const [wide, plain] = [await startHanging(t), await startHanging(t)]
  const { body } = await create(rig, wide.url, 20)
  t.equal(body.max_in_flight, 20)
  t.equal((await create(rig, plain.url)).body.max_in_flight, 8)
  await publishMany(rig, 100)
  await waitFor(() => wide.open() === 20 && plain.open() === 8)
  const claimed = { webhookId: body.webhook_id, claimToken: { $gt: 0 } }
  const inFlight = async () => (await rig.collections.deliveries.countDocuments(claimed)) === 20
  await waitFor(inFlight, { what: 'those in flight to be stored' })

  const target = { caller: rig.caller(), params: { webhook_id: body.webhook_id }, query: {} }
  const patched = await rig.call(patchWebhook, { ...target, body: { max_in_flight: 3 } })
  t.equal(patched.body.max_in_flight, 3)
  t.match((await rig.call(getWebhook, { ...target, body: undefined })).body, { max_in_flight: 3 })
  let [now, most] = [0, 0]
  const before = wide.received.length
  wide.answerAll()
  wide.answer((response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      response.end()
    }, 10)
  })
  plain.answerAll()
  await waitFor(() => new Set(wide.eventIds()).size === 100)
  t.ok(wide.received.length - before >= 80)
  t.ok(most <= 3, `${most} in flight`)
})

t.test('the bounds of max_in_flight are 1 and 64', (t) => {
  const endpoint = { url: 'https://example.com', environment: 'TEST' }
  for (const bad of [0, 65, 1.5, '8', null]) {
    t.notOk(webhookCreateSchema.safeParse({ ...endpoint, max_in_flight: bad }).success)
    t.notOk(webhookPatchSchema.safeParse({ max_in_flight: bad }).success)
  }
  for (const good of [1, 64, undefined]) {
    t.ok(webhookCreateSchema.safeParse({ ...endpoint, max_in_flight: good }).success)
    t.ok(webhookPatchSchema.safeParse({ max_in_flight: good }).success)
  }
  t.end()
})

t.test("twenty hanging endpoints of one account leave another's deliveries room", async (t) => {
  const rig = await startRig(t)
  const hanging = await startHanging(t)
  const endpoints = await Promise.all(Array.from({ length: 20 }, () => create(rig, hanging.url, 64)))
  t.equal(endpoints.length, 20)
  await publishMany(rig, 64)
  // 1280 deliveries wait; an account alone comes to three quarters of 1024 slots, an endpoint to one when
  // half of those are taken.
  await waitFor(() => hanging.open() >= 384)

  const other = { operatorId: randomUUID(), environment: 'SANDBOX' } as const
  const receiver = await startReceiver(t)
  await rig.call(createWebhook, {
    caller: testCaller(other),
    params: {},
    query: {},
    body: { url: receiver.url, environment: 'TEST', events: [] },
  })
  await Promise.all(Array.from({ length: 50 }, () => rig.publish({ scope: other })))
  await waitFor(() => new Set(receiver.eventIds()).size === 50)
  t.ok(hanging.open() >= 384, `${hanging.open()} of the first account hang still`)
  t.ok(hanging.open() < 768, 'and it has left a quarter')
  hanging.answerAll()
})
