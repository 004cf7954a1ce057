import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { runInNewContext } from 'node:vm'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import t, { type Test } from 'tap'
import { createExpressReceiver } from '../../examples/express-receiver.ts'
import { createFastifyReceiver } from '../../examples/fastify-receiver.ts'
import { certifyReceiver } from '../../src/certify/certify-receiver.ts'
import { verify } from '../../src/verify-webhook.ts'

const secret = 'whsec_example'
type Store = (eventId: string, rawBody: Buffer) => Promise<void>

const receivers: Readonly<Record<string, (t: Test, storeOnce: Store) => Promise<string>>> = {
  async express(t, storeOnce) {
    const server = createExpressReceiver({ secrets: [secret], storeOnce }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return `http://127.0.0.1:${address.port}/webhooks`
  },
  async fastify(t, storeOnce) {
    const app = createFastifyReceiver({ secrets: [secret], storeOnce })
    t.teardown(() => app.close())
    return `${await app.listen({ host: '127.0.0.1', port: 0 })}/webhooks`
  },
}

for (const [name, start] of Object.entries(receivers)) {
  await t.test(`the ${name} example passes every case for receivers`, async (t) => {
    const url = await start(t, async () => undefined)
    const { cases, certified } = await certifyReceiver({ url, secret })
    t.strictSame(
      cases.filter(({ outcome }) => outcome === 'failed'),
      [],
    )
    t.ok(certified)
  })

  await t.test(
    `the ${name} example stores the exact bytes and lets a failed store be repeated`,
    async (t) => {
      const stored = new Map<string, string>()
      let broken = true
      const url = await start(t, async (eventId, rawBody) => {
        if (broken) throw new Error('the disk is full')
        stored.set(eventId, rawBody.toString('utf8'))
      })
      const body = '{ "id":"evt_1",\n "data":{"player":"grüße"} }\n'
      const send = async () => {
        const timestamp = signatureTimestamp(new Date())
        const headers = {
          'content-type': 'application/json',
          'x-svc-event-id': 'evt_1',
          'x-svc-event-type': 'round.completed',
          'x-svc-timestamp': timestamp,
          'x-svc-signature': `v1=${signBody(secret, timestamp, body)}`,
          'x-svc-delivery-attempt': '1',
        }
        return (await fetch(url, { method: 'POST', headers, body })).status
      }
      t.equal(await send(), 500)
      broken = false
      t.strictSame([await send(), await send()], [200, 200])
      t.strictSame([...stored], [['evt_1', body]])
    },
  )
}

await t.test('verify runs where there is nothing but what a browser has', async (t) => {
  const source = readFileSync(new URL('../../src/verify-webhook.ts', import.meta.url), 'utf8')
  const script = stripTypeScriptTypes(source).replaceAll(/^export /gm, '')
  t.notMatch(script, /^\s*import\b|\brequire\(|\bprocess\.|\bBuffer\b/m)
  const browser: typeof verify = runInNewContext(`${script};verify`, { crypto, TextEncoder, Uint8Array })
  const timestamp = signatureTimestamp(new Date())
  const headers = {
    'x-svc-timestamp': timestamp,
    'x-svc-signature': `v1=${signBody(secret, timestamp, '{}')}`,
  }
  t.match(await browser(headers, '{}', secret), { ok: true })
  t.match(await browser(new Headers(headers), '{} ', secret), { ok: false, reason: 'SIGNATURE_MISMATCH' })
})
