import { createServer } from 'node:net'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import {
  dashboardGetDelivery,
  dashboardRetryDelivery,
  getWebhook,
  pauseWebhook,
  resumeWebhook,
} from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { logKey } from '../src/storage/log-keys.ts'
import { newDocument } from '../src/storage/new-delivery.ts'
import { type Received, startReceiver, status } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

/** Times are rounded to milliseconds, and an instant and a duration come from two clocks. */
const clockErrorMs = 5

const show = async (rig: Rig, id: string) =>
  (
    await rig.call(dashboardGetDelivery, {
      caller: rig.caller(),
      params: { delivery_id: id },
      query: {},
      body: undefined,
    })
  ).body
const endpointOf = async (rig: Rig, id: string) =>
  (
    await rig.call(getWebhook, {
      caller: rig.caller(),
      params: { webhook_id: id },
      query: {},
      body: undefined,
    })
  ).body
const retry = (rig: Rig, id: string) =>
  rig.call(dashboardRetryDelivery, {
    caller: rig.caller(),
    params: { delivery_id: id },
    query: {},
    body: undefined,
  })

const dayMs = 24 * 3_600_000

/**
 * Takes the endpoint's deliveries to the next step of their schedule, and to the end of their day, as time
 * does.
 */
async function makeDue({ collections: { deliveries, endpoints } }: Rig, webhookId: string): Promise<void> {
  const now = new Date()
  const waiting = { webhookId, status: 'PENDING', claimedAt: null, dueAt: { $gt: now } } as const
  const due = { dueAt: now, nextAttemptAt: now, stepDueAt: now }
  const ended = { ...due, firstAttemptAt: new Date(now.getTime() - dayMs) }
  const changes = [
    await deliveries.updateMany({ ...waiting, attemptCount: { $lt: 11 } }, { $set: due }),
    await deliveries.updateMany({ ...waiting, attemptCount: 11 }, { $set: ended }),
  ]
  if (changes.every(({ modifiedCount }) => modifiedCount === 0)) return
  await endpoints.updateOne({ _id: webhookId }, { $inc: { wakes: 1 } })
}

/** The only delivery of the endpoint, once this many of its attempts have ended. */
const afterAttempts = (rig: Rig, webhookId: string, attempts: number) =>
  waitFor(async () => {
    const [delivery] = await rig.deliveries({ webhook_id: webhookId })
    return delivery !== undefined && delivery.attempt_count >= attempts
      ? show(rig, delivery.delivery_id)
      : null
  })

void t.test('every failure is an attempt with its reason, and the schedule continues', atOnce, async (t) => {
  const attemptTimeoutMs = 3000
  const rig = await startRig(t, { attemptTimeoutMs })
  const drip = await startReceiver(t, (response) => {
    response.writeHead(500)
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const huge = await startReceiver(t, (response) => {
    response.writeHead(500)
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    more()
  })
  const silent = createServer((socket) => socket.resume().on('error', () => undefined))
  const reset = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy()),
  )
  const rubbish = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.end('hello\r\n\r\n')),
  )
  const closed = createServer()
  for (const server of [silent, reset, rubbish, closed]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
  }
  const portOf = (server: typeof silent) => {
    const address = server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }
  const closedPort = portOf(closed)
  closed.close()
  const redirected = await startReceiver(t)
  const cases: [string, string, number | null, RegExp][] = [
    ['500', (await startReceiver(t, status(500, {}, 'no'))).url, 500, /^HTTP 500$/],
    ['404', (await startReceiver(t, status(404))).url, 404, /^HTTP 404$/],
    [
      'redirect',
      (await startReceiver(t, status(302, { location: redirected.url }))).url,
      302,
      /redirects are not followed/,
    ],
    ['huge', huge.url, 500, /^HTTP 500$/],
    ['refused', `http://127.0.0.1:${closedPort}/`, null, /refused/],
    ['reset', `http://127.0.0.1:${portOf(reset)}/`, null, /reset|closed/],
    ['rubbish', `http://127.0.0.1:${portOf(rubbish)}/`, null, /not HTTP|closed/],
    ['hang', `http://127.0.0.1:${portOf(silent)}/`, null, /no complete answer within 3 s/],
    ['drip', drip.url, 500, /^HTTP 500$/],
  ]
  const endpoints = await Promise.all(cases.map(([, url]) => rig.createEndpoint(url)))
  await rig.publish()
  const untilDeadline = ['hang', 'drip']
  const ended: string[] = []
  await Promise.all(
    cases.map(async ([name, , httpStatus, error], index) => {
      const delivery = await afterAttempts(rig, endpoints[index]?.webhook_id ?? '', 1)
      const seenAtMs = Date.now()
      ended.push(name)
      const [first] = delivery.attempts
      t.equal(first?.http_status, httpStatus, name)
      t.match(first?.error, error, name)
      t.equal(delivery.status, 'PENDING', name)
      if (untilDeadline.includes(name))
        t.ok((first?.duration_ms ?? 0) >= attemptTimeoutMs - clockErrorMs, `${name} ends at the deadline`)
      if (name === 'huge') t.equal(first?.response_excerpt?.length, 4096)
      // The attempt ended between its own measure of that and the moment at which it was seen here.
      const endedAtMs = Date.parse(first?.sent_at ?? '') + (first?.duration_ms ?? 0)
      const nextAtMs = Date.parse(delivery.next_attempt_at ?? '')
      if (delivery.attempt_count === 1) {
        t.ok(nextAtMs >= endedAtMs - clockErrorMs + 4500, `${name}: next after at least 4.5 s`)
        t.ok(nextAtMs <= seenAtMs + 5500, `${name}: next after at most 5.5 s`)
      }
    }),
  )
  t.strictSame(
    new Set(ended.slice(-untilDeadline.length)),
    new Set(untilDeadline),
    'every other failure ends before the deadline',
  )
  t.equal(redirected.received.length, 0, 'a redirect is not followed')
  const redirect = endpoints[cases.findIndex(([name]) => name === 'redirect')]
  const [attempt] = (await afterAttempts(rig, redirect?.webhook_id ?? '', 1)).attempts
  t.match(attempt, { url: redirect?.url ?? '', location: redirected.url }, 'and is named')
})

void t.test(
  'a dead endpoint gets twelve attempts with the same bytes and rising numbers, then is paused',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { timeScale: 60 })
    const receiver = await startReceiver(t, status(500))
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    await rig.publish()
    const delivery = await waitFor(async () => {
      await makeDue(rig, webhook_id)
      const [one] = await rig.deliveries({ webhook_id, status: 'FAILED' })
      return one === undefined ? null : show(rig, one.delivery_id)
    })
    t.equal(delivery.attempt_count, 12)
    t.strictSame(
      receiver.received.map(({ headers }) => headers['x-svc-delivery-attempt']),
      Array.from({ length: 12 }, (_, index) => String(index + 1)),
    )
    t.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
    t.match(await endpointOf(rig, webhook_id), {
      status: 'PAUSED',
      pause_reason: 'EXHAUSTED',
      failure_streak: { consecutive_failed_attempts: 12, consecutive_failed_deliveries: 1 },
    })

    await rig.publish()
    const held = await waitFor(async () => (await rig.deliveries({ webhook_id, status: 'HELD' }))[0] ?? null)
    t.match((await show(rig, held.delivery_id)).waiting_for, /^paused: a delivery used up/)
    await t.rejects(retry(rig, held.delivery_id), { code: 'CONFLICT' })

    receiver.answer(status(200))
    await rig.call(resumeWebhook, {
      caller: rig.caller(),
      params: { webhook_id },
      query: {},
      body: { held: 'deliver' },
    })
    await waitFor(async () => (await show(rig, held.delivery_id)).status === 'DELIVERED')

    await retry(rig, delivery.delivery_id)
    const again = await waitFor(async () => {
      const one = await show(rig, delivery.delivery_id)
      return one.status === 'DELIVERED' ? one : null
    })
    t.equal(again.attempt_count, 13, 'a failed one is sent once more with the next number')
    await retry(rig, delivery.delivery_id)
    const once = await waitFor(async () => {
      const one = await show(rig, delivery.delivery_id)
      return one.attempt_count === 14 ? one : null
    })
    t.equal(once.status, 'DELIVERED', 'a delivered one too')
    const last = receiver.received.at(-1)
    t.match(last?.headers, { 'x-svc-event-id': delivery.event_id, 'x-svc-delivery-attempt': '14' })
  },
)

void t.test(
  '429 and 503 with Retry-After move the next attempt later, 410 pauses and holds',
  atOnce,
  async (t) => {
    const rig = await startRig(t)
    const busy = await rig.createEndpoint((await startReceiver(t, status(429, { 'retry-after': '60' }))).url)
    const gone = await rig.createEndpoint((await startReceiver(t, status(410))).url)
    await rig.publish()
    const later = await afterAttempts(rig, busy.webhook_id, 1)
    const seenAtMs = Date.now()
    const nextAtMs = Date.parse(later.next_attempt_at ?? '')
    t.ok(nextAtMs >= Date.parse(later.last_attempt?.sent_at ?? '') + 60_000, 'no sooner than asked for')
    t.ok(nextAtMs <= seenAtMs + 60_000, 'and no later')
    t.match(later.waiting_for, /^attempt 2 is due at .*, after HTTP 429/)
    t.equal(later.ladder?.[0]?.from, later.next_attempt_at, 'the ladder begins with the next attempt')
    t.equal(later.ladder?.at(-1)?.step, 12)
    const held = await afterAttempts(rig, gone.webhook_id, 1)
    t.equal(held.status, 'HELD')
    t.equal(held.waiting_for, 'paused: 410 Gone')
    t.match(await endpointOf(rig, gone.webhook_id), { status: 'PAUSED', pause_reason: 'GONE' })

    const pulled = await retry(rig, later.delivery_id)
    t.equal(pulled.status, 202)
    const twice = await afterAttempts(rig, busy.webhook_id, 2)
    t.equal(twice.attempts.length, 2, 'a pending one is pulled forward')
    t.equal(twice.status, 'PENDING')
  },
)

void t.test(
  'ten failures open the breaker; after its probe the backlog follows at a growing pace of at most eight',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { timeScale: 15 })
    let inFlight = 0
    let inFlightMax = 0
    let code = 500
    const receiver = await startReceiver(t, (response) => {
      inFlight += 1
      inFlightMax = Math.max(inFlightMax, inFlight)
      setTimeout(() => {
        inFlight -= 1
        response.writeHead(code).end()
      }, 30)
    })
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const healthy = await startReceiver(t)
    await rig.createEndpoint(healthy.url)
    const events = await Promise.all(Array.from({ length: 40 }, () => rig.publish()))
    const waiting = await waitFor(async () => {
      const health = await rig.collections.endpoints.findOne({ _id: webhook_id })
      if (health === null || health.health.breaker.probeAt === null) return null
      const pending = await rig.deliveries({ webhook_id, status: 'PENDING' })
      const untouched = pending.filter(({ attempt_count }) => attempt_count === 0)
      const shown = await Promise.all(untouched.map(({ delivery_id }) => show(rig, delivery_id)))
      // A delivery in flight when the breaker opened may still be, or has just ended. The ones that the
      // breaker holds back keep their attempt number.
      const held = shown.filter(({ attempt_count }) => attempt_count === 0)
      return held.find(({ waiting_for: why }) => !/is under way/.test(why ?? '')) ?? null
    })
    t.match(waiting.waiting_for, /^breaker open until [0-9:]{8}/)
    const afterOpening = receiver.received.length
    t.ok(afterOpening >= 10 && afterOpening <= 18, `${afterOpening} attempts until it opened`)
    t.ok(inFlightMax <= 8, `${inFlightMax} in flight`)
    await waitFor(() => new Set(healthy.eventIds()).size === 40)

    await waitFor(() => receiver.received.length > afterOpening)
    code = 200
    inFlightMax = 0
    await waitFor(async () => (await rig.deliveries({ webhook_id, status: 'PENDING' })).length === 0)
    t.strictSame(new Set(receiver.eventIds()), new Set(events.map(({ id }) => id)))
    t.ok(inFlightMax <= 8 && inFlightMax > 1, `${inFlightMax} in flight`)
    t.match(await endpointOf(rig, webhook_id), {
      status: 'ACTIVE',
      failure_streak: { consecutive_failed_attempts: 0, consecutive_failed_deliveries: 0, since: null },
    })
  },
)

/** Refuses `round.started` and takes everything else. */
const refusingOneType = (response: ServerResponse, { headers }: Received) =>
  response.writeHead(headers['x-svc-event-type'] === 'round.started' ? 500 : 200).end()

void t.test(
  'events that an endpoint always refuses do not keep its breaker open for the others',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { timeScale: 600 })
    const receiver = await startReceiver(t, refusingOneType)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    await Promise.all(Array.from({ length: 12 }, () => rig.publish({ type: 'round.started' })))
    await waitFor(async () => {
      const endpoint = await rig.collections.endpoints.findOne({ _id: webhook_id })
      return (endpoint?.health.breaker.probeAt ?? null) !== null
    })
    const refusedBefore = receiver.received.length
    const other = await rig.publish()
    await waitFor(() => receiver.eventIds().includes(other.id))
    const probes = receiver.eventIds().indexOf(other.id) - refusedBefore
    // The attempts in flight when the breaker opened end after it.
    t.ok(probes <= 16, `${probes} of the refused events went out before it`)
  },
)

void t.test(
  'an event that an endpoint always refuses keeps its schedule and holds up no other event',
  atOnce,
  async (t) => {
    const timeScale = 20_000
    const rig = await startRig(t, { timeScale })
    const receiver = await startReceiver(t, refusingOneType)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    await rig.publish({ type: 'round.started' })
    const others: string[] = []
    const failed = await waitFor(
      async () => {
        others.push((await rig.publish()).id)
        const [one] = await rig.deliveries({ webhook_id, status: 'FAILED' })
        return one === undefined ? null : show(rig, one.delivery_id)
      },
      { everyMs: 50 },
    )
    const sentAt = failed.attempts.map(({ sent_at }) => Date.parse(sent_at))
    t.equal(failed.attempt_count, 12)
    const livedMs = (sentAt.at(-1) ?? 0) - (sentAt[0] ?? 0)
    t.ok(livedMs >= (23 * 3_600_000) / timeScale, `FAILED ${livedMs} ms after its first attempt`)
    const ended = await waitFor(async () => {
      const deliveries = (await rig.allDeliveries()).filter(({ eventId }) => others.includes(eventId))
      return deliveries.length === others.length && deliveries.every(({ status: now }) => now === 'DELIVERED')
        ? deliveries
        : null
    })
    t.strictSame(new Set(ended.map(({ attemptCount }) => attemptCount)), new Set([1]))
    t.match(await endpointOf(rig, webhook_id), { status: 'ACTIVE', pause_reason: null })
  },
)

void t.test('a success after a failure leaves the pace as it is: eight in flight', atOnce, async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t, refusingOneType)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  await rig.publish({ type: 'round.started' })
  await afterAttempts(rig, webhook_id, 1)
  const accepted = await rig.publish()
  await waitFor(async () => (await rig.deliveries({ event_id: accepted.id }))[0]?.status === 'DELIVERED')
  const waiting: ServerResponse[] = []
  receiver.answer((response) => waiting.push(response))
  await Promise.all(Array.from({ length: 12 }, () => rig.publish()))
  await waitFor(() => waiting.length === 8, { what: 'eight in flight' })
  receiver.answer(status(200))
  for (const response of waiting) response.end()
})

void t.test(
  'a delivery whose event a restored database lacks waits for it on its schedule',
  atOnce,
  async (t) => {
    const rig = await startRig(t)
    const receiver = await startReceiver(t)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    await rig.publish()
    const first = await waitFor(() => rig.collections.log.findOne({}))
    await waitFor(() => receiver.received.length === 1)
    const eventId = String(first.e).replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const fields = { webhookId: webhook_id, eventId, eventType: first.t, lane: 'fresh' } as const
    const lost = newDocument({
      _id: eventId.replace('evt', 'dlv'),
      ...rig.scope,
      ...fields,
      createdAt: new Date(),
    })
    await rig.collections.deliveries.insertOne(lost)
    await rig.collections.endpoints.updateOne({ _id: webhook_id }, { $inc: { wakes: 1 } })
    const waiting = await waitFor(async () => {
      const shown = await show(rig, lost._id)
      return shown.attempt_count === 1 ? shown : null
    })
    t.match(waiting, { status: 'PENDING', next_attempt_at: String })
    t.match(waiting.last_attempt, { error: 'the event is not in the log any more', http_status: null })
    t.match(await endpointOf(rig, webhook_id), { failure_streak: { consecutive_failed_attempts: 0 } })
    await rig.collections.log.insertOne({ ...first, _id: logKey(rig.scope, 2), e: eventId })
    await retry(rig, lost._id)
    await waitFor(async () => (await show(rig, lost._id)).status === 'DELIVERED')
  },
)

void t.test('pausing holds deliveries, resuming with skip cancels the held ones', atOnce, async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const request = { caller: rig.caller(), params: { webhook_id }, query: {} }
  const paused = await rig.call(pauseWebhook, { ...request, body: undefined })
  t.match(paused.body, { status: 'PAUSED', pause_reason: 'MANUAL' })
  const skipped = await rig.publish()
  await waitFor(async () => (await rig.deliveries({ webhook_id, status: 'HELD' })).length === 1)
  const active = await rig.call(resumeWebhook, { ...request, body: { held: 'skip' } })
  t.match(active.body, { status: 'ACTIVE', pause_reason: null })
  const [cancelled] = await rig.deliveries({ event_id: skipped.id })
  t.equal(cancelled?.status, 'CANCELLED')
  const next = await rig.publish()
  await waitFor(() => receiver.received.length > 0)
  t.strictSame(receiver.eventIds(), [next.id])
})
