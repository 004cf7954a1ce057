import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import {
  cancelWebhookCertification,
  certifyWebhook,
  createWebhook,
  getWebhookCertification,
  listWebhookCertifications,
  patchWebhook,
} from '@pitboss/contracts/endpoints/webhooks'
import { verifyBody } from '@pitboss/signing/body-signature'
import { runOutClaims } from '@pitboss/testing/run-out-claims'
import { waitFor } from '@pitboss/testing/wait-for'
import { callerIn } from '@pitboss/testing/sample-caller'
import t from 'tap'
import { type Received, startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig, testCaller } from './fixtures/rig.ts'
import { spawnService } from './fixtures/service-process.ts'

/** A certification is a job: it ends once, whichever process dies, and its report tells no secret. */

const caseIds = receiverCases.map(({ id }) => id)

function clientOf(rig: Rig) {
  const at = (webhook_id: string) => ({ caller: rig.caller(), params: { webhook_id }, query: {} })
  const show = async (webhook_id: string, certification_id: string) => {
    const asked = { ...at(webhook_id), params: { webhook_id, certification_id }, body: undefined }
    return (await rig.call(getWebhookCertification, asked)).body
  }
  return {
    at,
    show,
    cancel: async (webhook_id: string, certification_id: string, caller = rig.caller()) => {
      const params = { webhook_id, certification_id }
      return (await rig.call(cancelWebhookCertification, { caller, params, query: {}, body: undefined })).body
    },
    async list(webhook_id: string) {
      const page = { ...at(webhook_id), query: { limit: 50 }, body: undefined }
      return (await rig.call(listWebhookCertifications, page)).body.data
    },
    start: (webhook_id: string) => rig.call(certifyWebhook, { ...at(webhook_id), body: undefined }),
    ended: (webhook_id: string, id: string) =>
      waitFor(
        async () => {
          const job = await show(webhook_id, id)
          return job.status === 'DONE' ? job : null
        },
        { timeoutMs: 90_000 },
      ),
  }
}

/** Whether one of the signatures is of this secret, over the bytes as they came. */
function isVerified({ headers, body }: Received, secret: string): boolean {
  const timestamp = String(headers['x-svc-timestamp'])
  return String(headers['x-svc-signature'])
    .split(' ')
    .filter((value) => value.startsWith('v1='))
    .map((value) => value.slice('v1='.length))
    .some(
      (signature) => verifyBody({ secret, timestamp, signature, rawBody: body, nowS: Date.now() / 1000 }).ok,
    )
}

await t.test('a good receiver is certified, a bad one is told why; the report tells no secret', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { start, list, ended, show } = clientOf(rig)
  let secret = ''
  const good = await startReceiver(t, (response, one) =>
    response.writeHead(isVerified(one, secret) ? 204 : 401).end(secret),
  )
  const endpoint = await rig.createEndpoint(good.url)
  secret = endpoint.secret ?? ''
  const { webhook_id } = endpoint
  const begun = await start(webhook_id)
  t.match(begun, { status: 202, body: { status: 'RUNNING', certified: null, cases_total: caseIds.length } })
  const { certification_id } = begun.body
  const job = await ended(webhook_id, certification_id)
  t.strictSame(
    job.cases.filter(({ outcome }) => outcome !== 'passed'),
    [],
  )
  t.match(job, { certified: true, reason: null, passed: caseIds.length, webhook_id, url: good.url })
  t.strictSame(
    job.cases.map(({ id }) => id),
    caseIds,
    'each case once, in order',
  )
  const text = JSON.stringify(job)
  t.notOk(text.includes(secret), 'no secret, though the receiver repeats it')
  t.notMatch(text, /[0-9a-f]{64}/, 'no signature')
  t.match(job.cases.find(({ id }) => id === 'wrong-secret')?.exchanges, [
    { http_status: 401, answer: '[secret]' },
  ])
  const { cases: _, ...summary } = job
  t.strictSame(await list(webhook_id), [summary])
  t.strictSame(await rig.deliveries({ webhook_id }), [], 'what was sent is no delivery')
  await t.rejects(
    rig.call(getWebhookCertification, {
      caller: testCaller({ ...rig.scope, operatorId: '0193a5c4-9d3e-7a2b-8c1d-4e5f60718294' }),
      params: { webhook_id, certification_id },
      query: {},
      body: undefined,
    }),
    { code: 'NOT_FOUND' },
  )

  const careless = await startReceiver(t)
  const other = await rig.createEndpoint(careless.url)
  const bad = await ended(other.webhook_id, (await start(other.webhook_id)).body.certification_id)
  t.equal(bad.certified, false)
  const forged = bad.cases.find(({ id }) => id === 'wrong-secret')
  t.match(forged, { outcome: 'failed', message: /expected 4xx, got 200/, why: /never were/, hint: /HMAC/ })
  await t.rejects(show(other.webhook_id, certification_id), { code: 'NOT_FOUND' }, 'of another endpoint')
})

await t.test('an endpoint has one at a time, ends when it is changed, and LIVE has none', async (t) => {
  const rig = await startRig(t)
  const { at, start, ended } = clientOf(rig)
  const held: (() => void)[] = []
  const receiver = await startReceiver(t, (response) => held.push(() => response.end()))
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const { certification_id } = (await start(webhook_id)).body
  await t.rejects(start(webhook_id), { code: 'CONFLICT', message: new RegExp(certification_id) })
  const find = (certificationId: string) =>
    rig.call({ call: findWebhookCertification }, { caller: rig.caller(), certificationId })
  t.strictSame(await find(certification_id), { webhookId: webhook_id })
  await t.rejects(find(certification_id.replace(/.$/, '!')), { code: 'NOT_FOUND' })
  await waitFor(async () => held.length > 0)
  await rig.call(patchWebhook, { ...at(webhook_id), body: { url: `${receiver.url}/moved` } })
  held.shift()?.()
  const job = await ended(webhook_id, certification_id)
  t.match(job, { certified: false, reason: /changed meanwhile/, passed: 1 })
  const live = { url: 'https://1.1.1.1/hook', environment: 'LIVE', events: [] } as const
  const { body } = await rig.call(createWebhook, {
    caller: callerIn(rig.caller(), 'LIVE'),
    params: {},
    query: {},
    body: { ...live, events: [] },
  })
  await t.rejects(
    rig.call(certifyWebhook, {
      ...at(body.webhook_id),
      caller: callerIn(rig.caller(), 'LIVE'),
      body: undefined,
    }),
    { code: 'CONFLICT', message: /LIVE/ },
  )
})

await t.test('a certification goes on where a killed replica left it, and ends once', async (t) => {
  const rig = await startRig(t, { start: false })
  const { start, show, list, ended } = clientOf(rig)
  const receiver = await startReceiver(t)
  const first = spawnService(t, rig.config, 'webhooks.certified-case=kill@5')
  const { webhook_id } = await waitFor(() => rig.createEndpoint(receiver.url).catch(() => null), {
    timeoutMs: 90_000,
  })
  // The process may die before it answers.
  await start(webhook_id).catch(() => null)
  t.equal(await first.ended, 'SIGKILL')
  for (const _replica of [1, 2]) await rig.startOne()
  const [begun] = await waitFor(() => list(webhook_id).catch(() => null), { timeoutMs: 60_000 })
  const certification_id = begun?.certification_id ?? ''
  const kept = await show(webhook_id, certification_id)
  t.equal(kept.cases.length, 5, 'what was stored before the kill')
  await runOutClaims(rig.storage.db)
  const job = await ended(webhook_id, certification_id)
  t.strictSame(
    job.cases.map(({ id }) => id),
    caseIds,
    'each case once, in order',
  )
  t.strictSame(job.cases.slice(0, 5), kept.cases)
})

await t.test('a certification that a person cancels stays so, whichever replica works on it', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { start, show, cancel } = clientOf(rig)
  const held: (() => void)[] = []
  const receiver = await startReceiver(t, (response) => held.push(() => response.end()))
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const other = await rig.createEndpoint(receiver.url)
  const { certification_id } = (await start(webhook_id)).body
  await waitFor(async () => held.length > 0)
  const stranger = testCaller({ ...rig.scope, operatorId: '0193a5c4-9d3e-7a2b-8c1d-4e5f60718294' })
  await t.rejects(cancel(webhook_id, certification_id, stranger), { code: 'NOT_FOUND' })
  await t.rejects(cancel(other.webhook_id, certification_id), { code: 'NOT_FOUND' }, 'of another endpoint')
  const cancelled = await cancel(webhook_id, certification_id)
  t.match(cancelled, { status: 'CANCELLED', certified: false, reason: /A person cancelled it/, webhook_id })
  t.strictSame(await cancel(webhook_id, certification_id), cancelled, 'again, it is answered as it is')
  const next = (await start(webhook_id)).body.certification_id
  const begun = async () => {
    while (held.length > 0) held.shift()?.()
    return (await show(webhook_id, next)).cases.length > 0
  }
  await waitFor(begun, { timeoutMs: 20_000, what: 'the next one begins long before the claim runs out' })
  t.strictSame(await show(webhook_id, certification_id), cancelled, 'nothing came of the answer')
  t.match(await cancel(webhook_id, next), { status: 'CANCELLED' })
})
