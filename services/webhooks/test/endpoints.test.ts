import { randomUUID } from 'node:crypto'
import {
  createReplay,
  createWebhook,
  dashboardGetDelivery,
  dashboardListDeliveries,
  dashboardRetryDelivery,
  deleteWebhook,
  getWebhook,
  listDeliveries,
  listWebhooks,
  patchWebhook,
  pauseWebhook,
  resumeWebhook,
  retryDelivery,
  rotateWebhookSecret,
  testWebhook,
} from '@pitboss/contracts/endpoints/webhooks'
import { parseRange } from '@pitboss/contracts/address-range'
import { callerIn } from '@pitboss/testing/sample-caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import { signBody } from '@pitboss/signing/body-signature'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { type Received, startReceiver, status } from './fixtures/receiver.ts'
import { startRig, testCaller } from './fixtures/rig.ts'

const signatures = ({ headers }: Received) => String(headers['x-svc-signature']).split(' ')
const signed = (secret: string, { headers, body }: Received) =>
  `v1=${signBody(secret, String(headers['x-svc-timestamp']), body)}`

t.test('endpoints', async (t) => {
  const rig = await startRig(t)
  const caller = rig.caller({ eitherEnvironment: true })
  const at = (webhook_id: string, as = caller) => ({ caller: as, params: { webhook_id }, query: {} })
  const create = (
    body: { url: string; environment: 'TEST' | 'LIVE'; events?: 'transaction.bet'[]; description?: string },
    as = caller,
  ) =>
    rig.call(createWebhook, {
      caller: callerIn(as, body.environment),
      params: {},
      query: {},
      body: { events: [], ...body },
    })

  await t.test('creation shows the secret once and stores it encrypted', async (t) => {
    const { status: code, body } = await create({
      url: 'https://example.com/hook',
      environment: 'LIVE',
      description: 'ledger',
    })
    t.equal(code, 201)
    t.match(body, {
      webhook_id: /^whe_[0-9a-hjkmnp-tv-z]{26}$/,
      url: 'https://example.com/hook',
      description: 'ledger',
      environment: 'LIVE',
      events: [],
      status: 'ACTIVE',
      pause_reason: null,
      failure_streak: { consecutive_failed_attempts: 0, consecutive_failed_deliveries: 0, since: null },
      secret: /^whsec_[0-9A-Za-z]{32}$/,
    })
    const shown = await rig.call(getWebhook, { ...at(body.webhook_id), body: undefined })
    t.notOk('secret' in shown.body)
    const stored = JSON.stringify(await rig.collections.endpoints.findOne({ _id: body.webhook_id }))
    t.notMatch(stored, body.secret ?? 'none')
    t.match(stored, /"sealed":"v1\./)
  })

  await t.test('forbidden URLs are refused, naming the field', async (t) => {
    const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'url' }] }
    for (const url of [
      'http://example.com/hook',
      'https://127.0.0.1/hook',
      'https://2130706433/hook',
      'https://[::1]/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest',
      'https://localhost/',
      'https://svc.internal/',
      'https://user:secret@example.com/',
      'https://example.com/#x',
      'https://example.com:22/',
      'ftp://example.com/',
    ]) {
      await t.rejects(create({ url, environment: 'LIVE' }), refused, url)
    }
    await t.rejects(create({ url: 'http://10.0.0.1/', environment: 'TEST' }), refused)
    t.equal((await create({ url: 'http://127.0.0.1:9/', environment: 'TEST' })).status, 201)
  })

  await t.test(
    'a repeated creation answers the same endpoint without its secret; another body conflicts',
    async (t) => {
      const as = rig.caller({ idempotencyKey: 'key-1' })
      const body = { url: 'https://example.com/once', environment: 'TEST' } as const
      const [one, two] = await Promise.all([create(body, as), create(body, as)])
      const third = await create(body, as)
      t.equal(one.body.webhook_id, two.body.webhook_id)
      t.equal(third.body.webhook_id, one.body.webhook_id)
      t.notOk('secret' in third.body)
      t.equal([one, two].filter(({ body: record }) => record.secret !== undefined).length, 1)
      await t.rejects(create({ ...body, description: 'x' }, as), { code: 'CONFLICT' })
    },
  )

  await t.test('foreign, unknown and malformed ids are all not found', async (t) => {
    const { body } = await create({ url: 'https://example.com/', environment: 'TEST' })
    const foreign = testCaller(
      { operatorId: randomUUID(), environment: 'SANDBOX' },
      { eitherEnvironment: true },
    )
    const notFound = { code: 'NOT_FOUND', message: 'There is nothing here.' }
    await t.rejects(rig.call(getWebhook, { ...at(body.webhook_id, foreign), body: undefined }), notFound)
    await t.rejects(rig.call(getWebhook, { ...at('whe_x'), body: undefined }), notFound)
    await t.rejects(rig.call(deleteWebhook, { ...at(body.webhook_id, foreign), body: undefined }), notFound)
    const live = { ...at(body.webhook_id, callerIn(rig.caller(), 'LIVE')), body: undefined }
    await t.rejects(rig.call(getWebhook, live), notFound)
  })

  await t.test('lists one environment, newest first, page by page', async (t) => {
    const scope = { operatorId: randomUUID(), environment: 'SANDBOX' } as const
    const as = testCaller(scope)
    const ids: string[] = []
    for (let count = 0; count < 3; count++) {
      ids.unshift(
        (await create({ url: `https://example.com/${count}`, environment: 'TEST' }, as)).body.webhook_id,
      )
    }
    await create({ url: 'https://example.com/live', environment: 'LIVE' }, as)
    const list = (query: { limit: number; cursor?: string }) =>
      rig.call(listWebhooks, { caller: as, params: {}, query, body: undefined })
    const first = await list({ limit: 2 })
    t.strictSame(
      first.body.data.map(({ webhook_id }) => webhook_id),
      ids.slice(0, 2),
    )
    const second = await list({ limit: 2, cursor: first.body.next_cursor ?? '' })
    t.strictSame(
      second.body.data.map(({ webhook_id }) => webhook_id),
      ids.slice(2),
    )
    t.equal(second.body.next_cursor, null)
  })

  await t.test(
    'a rotation signs with both secrets during the overlap; an overlap of zero ends the old one at once',
    async (t) => {
      const receiver = await startReceiver(t)
      const endpoint = await rig.createEndpoint(receiver.url, ['transaction.bet'])
      const rotate = (overlap_s: number) =>
        rig.call(rotateWebhookSecret, { ...at(endpoint.webhook_id), body: { overlap_s } })
      const first = await rotate(3600)
      t.match(first.body, { webhook_id: endpoint.webhook_id, secret: /^whsec_/, previous_valid_until: /Z$/ })
      const overlapMs = Date.parse(first.body.previous_valid_until ?? '') - Date.now()
      t.ok(overlapMs > 3_590_000 && overlapMs <= 3_600_000)
      await rig.publish()
      const one = await waitFor(() => receiver.received[0])
      t.strictSame(signatures(one), [signed(first.body.secret, one), signed(endpoint.secret ?? '', one)])
      const second = await rotate(0)
      t.equal(second.body.previous_valid_until, null)
      await rig.publish()
      const two = await waitFor(() => receiver.received[1])
      t.strictSame(signatures(two), [signed(second.body.secret, two), signed(endpoint.secret ?? '', two)])
      await rig.call(deleteWebhook, { ...at(endpoint.webhook_id), body: undefined })
    },
  )

  await t.test('a changed URL and event list apply at once', async (t) => {
    const [old, fresh] = [await startReceiver(t), await startReceiver(t)]
    const { webhook_id } = await rig.createEndpoint(old.url)
    const patched = await rig.call(patchWebhook, {
      ...at(webhook_id),
      body: { url: fresh.url, events: ['transaction.win'], description: null },
    })
    t.match(patched.body, { url: fresh.url, events: ['transaction.win'], description: null })
    await t.rejects(rig.call(patchWebhook, { ...at(webhook_id), body: { url: 'http://10.0.0.1/' } }), {
      code: 'VALIDATION_ERROR',
    })
    await rig.publish({ type: 'round.started' })
    const win = await rig.publish({ type: 'transaction.win' })
    await waitFor(() => fresh.received.length > 0)
    t.strictSame(fresh.eventIds(), [win.id])
    t.equal(old.received.length, 0)
    await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
  })

  await t.test(
    'a test is sent signed and once, also to a paused endpoint, and leaves its health alone',
    async (t) => {
      const receiver = await startReceiver(t, status(500))
      const { webhook_id, secret } = await rig.createEndpoint(receiver.url)
      await rig.call(pauseWebhook, { ...at(webhook_id), body: undefined })
      const { status: code, body } = await rig.call(testWebhook, { ...at(webhook_id), body: undefined })
      t.equal(code, 202)
      const show = async () =>
        (
          await rig.call(dashboardGetDelivery, {
            caller,
            params: { delivery_id: body.delivery_id },
            query: {},
            body: undefined,
          })
        ).body
      const failed = await waitFor(async () => {
        const delivery = await show()
        return delivery.status === 'FAILED' ? delivery : null
      })
      t.match(failed, { event_type: 'webhook.test', attempt_count: 1, next_attempt_at: null })
      const [got] = receiver.received
      if (got === undefined) return t.fail('nothing arrived')
      t.strictSame(signatures(got), [signed(secret ?? '', got)])
      t.match(JSON.parse(got.body), { id: failed.event_id, type: 'webhook.test', data: { webhook_id } })
      receiver.answer(status(204))
      const again = await rig.call(dashboardRetryDelivery, {
        caller,
        params: { delivery_id: body.delivery_id },
        query: {},
        body: undefined,
      })
      t.equal(again.status, 202)
      await waitFor(async () => (await show()).status === 'DELIVERED')
      const endpoint = await rig.call(getWebhook, { ...at(webhook_id), body: undefined })
      t.match(endpoint.body, { status: 'PAUSED', failure_streak: { consecutive_failed_attempts: 0 } })
      await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
    },
  )

  await t.test(
    'pausing and resuming twice change nothing; a replay to a paused endpoint conflicts',
    async (t) => {
      const { webhook_id } = await rig.createEndpoint('http://127.0.0.1:9/', ['round.started'])
      const pause = () => rig.call(pauseWebhook, { ...at(webhook_id), body: undefined })
      const resume = () => rig.call(resumeWebhook, { ...at(webhook_id), body: { held: 'deliver' as const } })
      const first = await pause()
      t.strictSame(await pause(), first)
      const now = new Date().toISOString()
      const replay = { from: now, to: now, only: 'missing' as const, dry_run: false }
      await t.rejects(rig.call(createReplay, { ...at(webhook_id), body: replay }), { code: 'CONFLICT' })
      const active = await resume()
      t.strictSame(await resume(), active)
      await t.rejects(
        rig.call(createReplay, { ...at(webhook_id), body: { ...replay, to: '2020-01-01T00:00:00.000Z' } }),
        { code: 'VALIDATION_ERROR', details: [{ path: 'from' }] },
      )
      await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
    },
  )

  await t.test('deleting an endpoint cancels its waiting deliveries, which stay in the list', async (t) => {
    const receiver = await startReceiver(t, status(500))
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    await rig.publish()
    const pending = await waitFor(async () => {
      const [delivery] = await rig.deliveries({ webhook_id })
      return delivery?.attempt_count === 1 ? delivery : null
    })
    const gone = await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
    t.strictSame(gone, { status: 204, body: null })
    await t.rejects(rig.call(getWebhook, { ...at(webhook_id), body: undefined }), { code: 'NOT_FOUND' })
    const [left] = await rig.deliveries({ webhook_id })
    t.match(left, { delivery_id: pending.delivery_id, status: 'CANCELLED', next_attempt_at: null })
    const retry = {
      caller: rig.caller(),
      params: { delivery_id: pending.delivery_id },
      query: {},
      body: undefined,
    }
    await t.rejects(rig.call(retryDelivery, retry), { code: 'CONFLICT' })
  })

  await t.test('what waits of a type that was unsubscribed is cancelled, the rest goes on', async (t) => {
    const receiver = await startReceiver(t, status(500))
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const patch = (events: EventType[]) => rig.call(patchWebhook, { ...at(webhook_id), body: { events } })
    const bet = await rig.publish()
    const win = await rig.publish({ type: 'transaction.win' })
    await waitFor(async () => {
      const found = await rig.deliveries({ webhook_id, status: 'PENDING' })
      return found.length === 2 && found.every(({ attempt_count: count }) => count === 1)
    })
    await patch([])
    t.equal((await rig.deliveries({ webhook_id, status: 'PENDING' })).length, 2, 'all types are no type less')
    await patch(['transaction.win'])
    const [cancelled] = await rig.deliveries({ webhook_id, event_id: bet.id })
    t.match(cancelled, { status: 'CANCELLED', next_attempt_at: null, attempt_count: 1 })
    t.match(await rig.deliveries({ webhook_id, event_id: win.id }), [{ status: 'PENDING' }])

    receiver.answer(status(200))
    const params = { delivery_id: cancelled?.delivery_id ?? '' }
    await rig.call(retryDelivery, { caller: rig.caller(), params, query: {}, body: undefined })
    await waitFor(
      async () => (await rig.deliveries({ webhook_id, event_id: bet.id }))[0]?.status === 'DELIVERED',
    )
    t.equal(receiver.eventIds().filter((id) => id === bet.id).length, 2, 'what a person asks for is sent')
    await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
  })

  await t.test('a pause holds nothing of a type that was unsubscribed', async (t) => {
    const { webhook_id } = await rig.createEndpoint('http://127.0.0.1:9/')
    await rig.call(pauseWebhook, { ...at(webhook_id), body: undefined })
    await rig.publish()
    await waitFor(async () => (await rig.deliveries({ webhook_id, status: 'HELD' })).length === 1)
    await rig.call(patchWebhook, { ...at(webhook_id), body: { events: ['round.started'] } })
    t.match(await rig.deliveries({ webhook_id }), [{ status: 'CANCELLED' }])
    await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
  })

  for (const [code, outcome] of [
    [200, 'DELIVERED'],
    [500, 'CANCELLED'],
  ] as const) {
    await t.test(
      `an attempt under way while its type is unsubscribed, answered ${code}: ${outcome}`,
      async (t) => {
        const underWay = Promise.withResolvers<void>()
        const receiver = await startReceiver(t, async (response) => {
          await underWay.promise
          status(code)(response)
        })
        const { webhook_id } = await rig.createEndpoint(receiver.url)
        await rig.publish()
        await waitFor(() => receiver.received.length === 1)
        await rig.call(patchWebhook, { ...at(webhook_id), body: { events: ['round.started'] } })
        underWay.resolve()
        const ended = await waitFor(async () => {
          const [delivery] = await rig.deliveries({ webhook_id })
          return delivery === undefined || delivery.status === 'PENDING' ? null : delivery
        })
        t.match(ended, { status: outcome, attempt_count: 1, next_attempt_at: null })
        await rig.call(deleteWebhook, { ...at(webhook_id), body: undefined })
      },
    )
  }

  await t.test(
    'deliveries are listed newest first, filtered, and only in their own environment',
    async (t) => {
      const receiver = await startReceiver(t)
      const { webhook_id } = await rig.createEndpoint(receiver.url)
      // A millisecond ago: nothing that is published from now on has that time.
      const from = new Date(Date.now() - 1).toISOString()
      const ids: string[] = []
      for (let count = 0; count < 5; count++) {
        ids.unshift((await rig.publish()).id)
        await waitFor(() => receiver.received.length > count)
      }
      const list = (query: Record<string, unknown> = {}, as = rig.caller()) =>
        rig.call(listDeliveries, {
          caller: as,
          params: {},
          query: listDeliveries.call.request.parse({ caller: as, params: {}, query, body: undefined }).query,
          body: undefined,
        })
      // a delivery that is sent at once is stored with its outcome
      await waitFor(async () => (await list({ webhook_id })).body.data.length === 5)
      const first = await list({ webhook_id, limit: 3 })
      t.strictSame(
        first.body.data.map(({ event_id }) => event_id),
        ids.slice(0, 3),
      )
      const rest = await list({ webhook_id, limit: 3, cursor: first.body.next_cursor })
      t.strictSame(
        rest.body.data.map(({ event_id }) => event_id),
        ids.slice(3),
      )
      t.equal(rest.body.next_cursor, null)
      t.equal((await list({ webhook_id, status: 'FAILED' })).body.data.length, 0)
      t.equal((await list({ webhook_id, event_type: 'transaction.win' })).body.data.length, 0)
      t.equal((await list({ event_id: ids[0], webhook_id })).body.data.length, 1)
      t.equal((await list({ webhook_id, from })).body.data.length, 5)
      t.equal((await list({ webhook_id, to: from })).body.data.length, 0)
      await t.rejects(list({ cursor: first.body.next_cursor }), { code: 'VALIDATION_ERROR' })
      const live = rig.caller({ scope: { ...rig.scope, environment: 'LIVE' } })
      t.equal((await list({ webhook_id }, live)).body.data.length, 0)
      const dashboard = await rig.call(dashboardListDeliveries, {
        caller: callerIn(live, 'TEST'),
        params: {},
        query: { webhook_id, environment: 'TEST', limit: 50 },
        body: undefined,
      })
      t.equal(dashboard.body.data.length, 5)
    },
  )
})

t.test('a test receiver that echoes its computed signature gets a hint at its mistake', async (t) => {
  const rig = await startRig(t)
  let secret = ''
  const receiver = await startReceiver(t, (response, { headers, body }) => {
    const computed = signBody(secret, `${String(headers['x-svc-timestamp'])}000`, body)
    response.writeHead(401, { 'x-webhook-computed-signature': computed }).end()
  })
  const endpoint = await rig.createEndpoint(receiver.url)
  secret = endpoint.secret ?? ''
  await rig.publish()
  const attempt = await waitFor(async () => (await rig.deliveries())[0]?.last_attempt ?? null)
  t.match(attempt.hint, /^milliseconds/)
  t.match(attempt.timings, {
    dns_ms: null,
    connect_ms: Number,
    tls_ms: null,
    first_byte_ms: Number,
    total_ms: Number,
  })
})

t.test(
  'an event goes to so many endpoints of an account, and no network of the setting is called',
  async (t) => {
    const denied = parseRange('127.0.0.8/29')
    const rig = await startRig(t, { eventEndpointsMax: 2, outboundDeny: denied === null ? [] : [denied] })
    const url = 'https://example.com/hook'
    const crowded = { code: 'CONFLICT', message: /at most 2 endpoints of an account/ }
    await rig.createEndpoint(url)
    const bets = await rig.createEndpoint(url, ['transaction.bet'])
    await t.rejects(rig.createEndpoint(url, ['transaction.win', 'transaction.bet']), crowded)
    await t.rejects(rig.createEndpoint(url), crowded, 'of all types')
    const wins = await rig.createEndpoint(url, ['transaction.win'])
    const change = (webhook_id: string, body: { events: EventType[] }) =>
      rig.call(patchWebhook, { caller: rig.caller(), params: { webhook_id }, query: {}, body })
    await t.rejects(change(bets.webhook_id, { events: ['transaction.bet', 'transaction.win'] }), crowded)
    await t.rejects(change(bets.webhook_id, { events: [] }), crowded)
    t.match(await change(wins.webhook_id, { events: ['round.started'] }), { status: 200 })
    t.match(await change(bets.webhook_id, { events: ['transaction.bet', 'transaction.win'] }), {
      status: 200,
    })
    t.match(
      await change(bets.webhook_id, { events: ['transaction.win'] }),
      { status: 200 },
      'what it has stays',
    )
    const live = { url, environment: 'LIVE' as const, events: [] }
    const caller = callerIn(rig.caller(), 'LIVE')
    t.match(
      await rig.call(createWebhook, { caller, params: {}, query: {}, body: live }),
      { status: 201 },
      'each environment for itself',
    )
    await t.rejects(rig.createEndpoint('http://127.0.0.9:9000/', ['round.completed']), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'url' }],
    })
    const allowed = 'http://127.0.0.1:9000/'
    const together = [1, 2, 3].map(() => rig.createEndpoint(allowed, ['round.completed']))
    const made = (await Promise.allSettled(together)).filter(({ status }) => status === 'fulfilled')
    t.equal(made.length, 1, 'requests at once do not pass the bound together')
  },
)
