import { join } from 'node:path'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import t, { type Test } from 'tap'
import { createReceiverApp } from '../../src/demo-receiver/create-receiver-app.ts'

const SECRET = 'whsec_demo'

async function startReceiver(t: Test, dataDir = t.testdir()) {
  const app = await createReceiverApp({ dataDir, secretsFile: join(dataDir, 'secrets.json') })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return {
    app,
    control: (method: string, path: string, body?: object): Promise<Response> =>
      fetch(
        `${url}${path}`,
        body === undefined
          ? { method }
          : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
      ),
    received: async (query = ''): Promise<Array<Record<string, unknown>>> =>
      JSON.parse(await (await fetch(`${url}/demo/received${query}`)).text()).data,
    deliver(id: string, secret = SECRET, attempt = '1'): Promise<Response> {
      const body = JSON.stringify({ id, type: 'round.completed', data: {} })
      const timestamp = signatureTimestamp(new Date())
      return fetch(`${url}/webhooks`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-svc-event-id': id,
          'x-svc-event-type': 'round.completed',
          'x-svc-timestamp': timestamp,
          'x-svc-signature': `v1=${signBody(secret, timestamp, body)}`,
          'x-svc-delivery-attempt': attempt,
        },
        body,
      })
    },
  }
}

await t.test('a delivery is answered 200 once it verified, and 401 before the secret is known', async (t) => {
  const receiver = await startReceiver(t)
  t.equal((await receiver.deliver('evt_1')).status, 401)
  t.equal((await receiver.control('PUT', '/demo/secrets', { secrets: [SECRET] })).status, 204)
  t.equal((await receiver.deliver('evt_1', SECRET, '2')).status, 200)
  t.equal((await receiver.deliver('evt_1', SECRET, '3')).status, 200)
  t.equal((await receiver.deliver('evt_2', 'whsec_wrong')).status, 401)
  t.match(await receiver.received(), [
    { seq: 1, verified: false, reason: 'NO_SECRET', event: null, answered_status: 401 },
    { seq: 2, verified: true, attempt: 2, duplicate: false, event: { id: 'evt_1' }, path: '/webhooks' },
    { seq: 3, verified: true, duplicate: true, headers: { 'x-svc-event-id': 'evt_1' } },
    { seq: 4, verified: false, reason: 'SIGNATURE_MISMATCH' },
  ])
  t.equal((await receiver.received('?verified=true')).length, 2)
  t.equal((await receiver.received('?id=evt_2')).length, 1)
  t.equal((await receiver.received('?type=transaction.bet')).length, 0)
})

await t.test('no page that the developer visits adds a secret', async (t) => {
  const receiver = await startReceiver(t)
  const url = receiver.app.listeningOrigin
  const add = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ secret: SECRET })
    return (await fetch(`${url}/demo/secrets`, { method: 'POST', headers, body })).status
  }
  const json = 'application/json'
  t.equal(await add({ 'content-type': 'text/plain' }), 415)
  t.equal(await add({ 'content-type': 'application/x-www-form-urlencoded' }), 415)
  t.equal(await add({ 'content-type': 'text/plain; application/json' }), 415)
  t.equal(await add({ 'content-type': json, origin: 'https://evil.example' }), 403)
  t.equal(await add({ 'content-type': json, origin: 'null' }), 403)
  t.equal((await receiver.deliver('evt_1')).status, 401, 'no secret was added')
  t.equal(await add({ 'content-type': json, origin: url }), 204)
  t.equal(await add({ 'content-type': `${json}; charset=utf-8` }), 204)
  t.equal((await receiver.deliver('evt_1')).status, 200)
})

await t.test('a commanded behaviour holds for as many deliveries as asked', async (t) => {
  const receiver = await startReceiver(t)
  await receiver.control('PUT', '/demo/secrets', { secrets: ['whsec_old'] })
  await receiver.control('POST', '/demo/secrets', { secret: SECRET })
  await receiver.control('PUT', '/demo/behaviour', { status: 503, retry_after: 7, count: 1 })
  const refused = await receiver.deliver('evt_1')
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '7')
  t.equal((await receiver.deliver('evt_1')).status, 200)
  await receiver.control('PUT', '/demo/behaviour', { drop: true })
  await t.rejects(receiver.deliver('evt_2'))
  await receiver.control('DELETE', '/demo/behaviour')
  t.equal((await receiver.deliver('evt_2')).status, 200)
  t.same(
    (await receiver.received()).map((one) => one.answered_status),
    [503, 200, null, 200],
  )
  t.equal((await receiver.control('PUT', '/demo/behaviour', { status: 'x' })).status, 422)
})

await t.test('what was received survives a restart', async (t) => {
  const dataDir = t.testdir({ kept: '' })
  const before = await startReceiver(t, dataDir)
  await before.control('PUT', '/demo/secrets', { secrets: [SECRET] })
  await before.deliver('evt_1')
  await before.app.close()
  const after = await startReceiver(t, dataDir)
  t.equal((await after.deliver('evt_1')).status, 200)
  t.match(await after.received(), [
    { seq: 1, duplicate: false },
    { seq: 2, duplicate: true },
  ])
  await after.control('DELETE', '/demo/received')
  t.same(await after.received(), [])
})

t.test('what is kept is shown under the names of this machine alone', async (t) => {
  const { app } = await startReceiver(t)
  const statusFor = async (host: string, url = '/demo/received') =>
    (await app.inject({ method: 'GET', url, headers: { host } })).statusCode
  for (const host of ['127.0.0.1:9000', 'localhost:9000', '[::1]:9000']) t.equal(await statusFor(host), 200)
  for (const url of ['/demo/received', '/demo', '/demo?x']) t.equal(await statusFor('evil.example', url), 421)
})
