import { randomBytes } from 'node:crypto'
import { defineCall } from '@pitboss/contracts/call'
import { ServiceError } from '@pitboss/errors/service-error'
import { clockDifferenceMaxMs } from '@pitboss/runtime/clock'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { connect, headers } from 'nats'
import t from 'tap'
import { z } from 'zod'
import { applyTopology } from '../src/apply-topology.ts'
import { isOutcomeUnknown } from '../src/call-failure.ts'
import { connectBus } from '../src/connect-bus.ts'
import { type HandlerContext, handler, serveCalls } from '../src/serve-calls.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const tokenless = { token: { none: 'a test' } }
const echo = defineCall('rounds.v1.test.echo', {
  ...tokenless,
  request: z.strictObject({ amount: z.string(), limit: z.int().default(50) }),
  reply: z.object({ amount: z.string(), limit: z.int() }),
  budgetMs: 5000,
})
const fail = defineCall('rounds.v1.test.fail', {
  ...tokenless,
  request: z.strictObject({ how: z.enum(['known', 'thrown', 'bad-reply', 'too-large']) }),
  reply: z.object({ text: z.string() }),
  budgetMs: 5000,
})
const large = defineCall('rounds.v1.test.large', {
  ...tokenless,
  request: z.strictObject({}),
  reply: z.strictObject({ text: z.string() }),
  budgetMs: 5000,
})
const slow = defineCall('rounds.v1.test.slow', {
  ...tokenless,
  request: z.strictObject({}),
  reply: z.strictObject({}),
  budgetMs: 300,
})
const settle = defineCall('rounds.v1.test.settle', {
  ...tokenless,
  request: z.strictObject({}),
  reply: z.strictObject({}),
  budgetMs: 5000,
  neverShed: true,
})
const ofAccount = {
  ...tokenless,
  request: z.strictObject({ scope: z.strictObject({ operatorId: z.string() }) }),
  reply: z.strictObject({}),
}
const hang = defineCall('rounds.v1.test.hang', { ...ofAccount })
const owe = defineCall('rounds.v1.test.owe', { ...ofAccount, neverShed: true })
const unserved = defineCall('rounds.v1.test.unserved', {
  ...tokenless,
  request: z.strictObject({}),
  reply: z.strictObject({}),
  budgetMs: 1000,
})

const rowsOfYears = () =>
  Array.from({ length: 60_000 }, (_, row) => `{"day":"2026-11-20","rounds":${row}}`).join()

const rejected = async (work: Promise<unknown>): Promise<ServiceError> => {
  const error = await work.then(() => null).catch((reason: unknown) => reason)
  if (!(error instanceof ServiceError)) throw new Error('a ServiceError was expected', { cause: error })
  return error
}

await t.test('calls', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger, lines } = memoryLogger()
  const server = await connectBus({ url: natsUrl, service: 'rounds', logger })
  const client = await connectBus({ url: natsUrl, service: 'gateway', logger })
  t.teardown(() => Promise.all([server.close(), client.close()]))

  const contexts: HandlerContext[] = []
  const releases: (() => void)[] = []
  const served = await serveCalls({
    bus: server,
    service: 'rounds',
    version: '1.2.3',
    concurrencyMax: 4,
    logger,
    handlers: [
      handler(echo, async (request, context) => {
        contexts.push(context)
        return { ...request, secret: 'not in the schema' }
      }),
      handler(fail, async ({ how }) => {
        if (how === 'known') {
          throw new ServiceError('WALLET_TIMEOUT', {
            message: 'mind the gap',
            details: [{ path: 'stake', message: 'too much' }],
            resource: { round_id: 'rnd_1', transaction_id: 'bet_1' },
            retryAfterS: 7,
            cause: new Error('the reason inside'),
          })
        }
        if (how === 'thrown') throw new Error('password is hunter2')
        // Noise: what can be compressed would still fit.
        if (how === 'too-large') return { text: randomBytes(2_000_000).toString('base64') }
        return JSON.parse('{"text":5}')
      }),
      handler(large, async () => ({ text: rowsOfYears() })),
      handler(settle, async () => ({})),
      handler(slow, async () => {
        await new Promise<void>((resolve) => releases.push(resolve))
        return {}
      }),
    ],
  })

  await t.test(
    'a call carries its request, its defaults and its context, and cuts fields that the reply lacks',
    async (t) => {
      const traceparent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'
      const deadlineAtMs = Date.now() + 2000
      const reply = await client.call(
        echo,
        { amount: '10.00', limit: 5 },
        { requestId: 'req_1', traceparent, deadlineAtMs },
      )
      t.strictSame(reply, { amount: '10.00', limit: 5 })
      const context = contexts.at(-1)
      t.equal(context?.requestId, 'req_1')
      t.match(context?.traceparent, /^00-0123456789abcdef0123456789abcdef-[0-9a-f]{16}-01$/)
      t.not(context?.traceparent, traceparent)
      t.equal(context?.deadlineAtMs, deadlineAtMs)
      const line = lines.findLast((entry) => entry.msg === 'call.served')
      t.match(line, { subject: echo.subject, request_id: 'req_1', code: 'OK' })
    },
  )

  await t.test('a call that begins inside the product gets a request id as HTTP gives it', async (t) => {
    await client.call(echo, { amount: '10.00', limit: 5 })
    t.match(contexts.at(-1)?.requestId, /^req_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  await t.test(
    'a ServiceError arrives with code, message, details, resource and retryAfterS, and without its cause',
    async (t) => {
      const error = await rejected(client.call(fail, { how: 'known' }))
      t.match(error, {
        code: 'WALLET_TIMEOUT',
        message: 'mind the gap',
        details: [{ path: 'stake', message: 'too much' }],
        resource: { round_id: 'rnd_1', transaction_id: 'bet_1' },
        retryAfterS: 7,
        cause: undefined,
      })
    },
  )

  for (const how of ['thrown', 'bad-reply', 'too-large'] as const) {
    await t.test(
      `an unexpected failure (${how}) is answered as a bare INTERNAL_ERROR and logged with its cause`,
      async (t) => {
        const error = await rejected(client.call(fail, { how }))
        t.equal(error.code, 'INTERNAL_ERROR')
        t.notMatch(error.message, /hunter2|text/)
        const line = lines.findLast((entry) => entry.msg === 'call.served')
        t.match(line, { code: 'INTERNAL_ERROR', err: { message: String } })
      },
    )
  }

  await t.test(
    'a request that does not fit is VALIDATION_ERROR with its paths, unreadable bytes too',
    async (t) => {
      const wrong = { ...echo, request: z.any() }
      const error = await rejected(client.call(wrong, { amount: 5, extra: 1 }))
      t.equal(error.code, 'VALIDATION_ERROR')
      t.equal(error.details?.[0]?.path, 'amount')
      const message = await client.nc.request(echo.subject, 'not json', { timeout: 2000 })
      t.match(message.json(), { code: 'VALIDATION_ERROR' })
      t.equal(message.headers?.get('Nats-Service-Error-Code'), '422')
    },
  )

  await t.test('no reply subject can be guessed from those that were seen', async (t) => {
    const asker = await connectBus({ url: natsUrl, service: 'gateway', logger })
    const spy = await connectBus({ url: natsUrl, service: 'spy', logger })
    const seen: { subject: string; reply: string }[] = []
    const callback = (_err: unknown, { subject, reply = '' }: { subject: string; reply?: string }) =>
      void seen.push({ subject, reply })
    const spied = ['rounds.>', '$SRV.>', '$JS.API.>'].map((root) => spy.nc.subscribe(root, { callback }))
    t.teardown(async () => {
      // The server learns of an ended connection later: for it the spy would answer the next call.
      for (const one of spied) one.unsubscribe()
      await spy.nc.flush()
      await Promise.all([asker.close(), spy.close()])
    })
    await spy.nc.flush()
    const random = Math.random
    Math.random = () => 0.5
    try {
      for (let count = 0; count < 50; count++) await asker.call(echo, { amount: '1', limit: 1 })
      await asker.request('$SRV.PING.rounds', { timeoutMs: 5000 })
      await asker.collect('$SRV.PING.rounds', { listenMs: 20_000, repliesMax: 1 })
      await applyTopology(asker.nc, { replicas: 1 })
    } finally {
      Math.random = random
    }
    await waitFor(() => seen.filter(({ subject }) => !subject.startsWith('$JS.')).length === 52, {
      what: 'all are seen',
    })
    const of = (root: RegExp) => seen.filter(({ subject }) => root.test(subject)).map(({ reply }) => reply)
    const replies = of(/^(rounds|\$SRV)\./)
    t.ok(replies.every((reply) => /^_INBOX\.gateway\.[A-Za-z0-9_-]{22}\.[0-9a-f-]{36}$/.test(reply)))
    t.equal(
      new Set(replies.map((reply) => reply.split('.')[3])).size,
      52,
      'each has 122 random bits of its own',
    )
    const prefixes = new Set(of(/^\$JS\./).map((reply) => reply.split('.').slice(0, 3).join('.')))
    t.equal(prefixes.size, 1)
    t.match([...prefixes][0], /^_INBOX\.gateway\.[A-Za-z0-9_-]{22}$/)
    t.notOk(
      replies.some((reply) => [...prefixes].some((prefix) => reply.startsWith(prefix))),
      'another prefix',
    )
  })

  await t.test('nobody there: SERVICE_UNAVAILABLE at once, nothing was started', async (t) => {
    const error = await rejected(client.call(unserved, {}))
    t.match(error, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 1, cause: 'no-responders' })
    t.notOk(isOutcomeUnknown(error))
  })

  await t.test('no answer in time is SERVICE_UNAVAILABLE of unknown outcome', async (t) => {
    const error = await rejected(client.call(slow, {}))
    t.equal(error.code, 'SERVICE_UNAVAILABLE')
    t.ok(isOutcomeUnknown(error))
    releases.splice(0).forEach((release) => release())
  })

  await t.test('a handler whose deadline has passed does not start', async (t) => {
    const head = headers()
    head.set('X-Deadline', String(Date.now() - 1))
    const before = contexts.length
    const message = await client.nc.request(echo.subject, JSON.stringify({ amount: '1' }), {
      timeout: 2000,
      headers: head,
    })
    t.match(message.json(), { code: 'SERVICE_UNAVAILABLE' })
    t.equal(contexts.length, before)
    const error = await rejected(
      client.call(echo, { amount: '1', limit: 1 }, { requestId: 'r', deadlineAtMs: Date.now() - 1 }),
    )
    t.equal(error.code, 'SERVICE_UNAVAILABLE')
  })

  await t.test(
    'work in flight is bounded: one more call is answered SERVICE_UNAVAILABLE, not queued',
    async (t) => {
      const held = Array.from({ length: 4 }, () => client.call(slow, {}))
      await waitFor(() => releases.length === 4, { what: 'four handlers are at work' })
      const error = await rejected(client.call(echo, { amount: '1', limit: 1 }))
      t.match(error, { code: 'SERVICE_UNAVAILABLE', cause: 'shed' }, 'and known not to have been begun')
      t.strictSame(await client.call(settle, {}), {}, 'but what settles money is')
      releases.splice(0).forEach((release) => release())
      await Promise.all(held)
      t.strictSame(await client.call(echo, { amount: '1', limit: 1 }), { amount: '1', limit: 1 })
    },
  )

  await t.test('a reply subject that is no inbox gets no answer', async (t) => {
    const spy = client.nc.subscribe('events.v1.stolen')
    client.nc.publish(echo.subject, JSON.stringify({ amount: '1' }), { reply: 'events.v1.stolen' })
    await waitFor(() => lines.some((line) => line.msg === 'call.without-inbox'), {
      what: 'the call is refused',
    })
    await server.nc.flush()
    await client.nc.flush()
    t.equal(spy.getReceived(), 0)
    spy.unsubscribe()
  })

  await t.test('a reply of some megabytes arrives whole', async (t) => {
    const text = rowsOfYears()
    t.ok(text.length > 1_500_000)
    t.strictSame(await client.call(large, {}), { text })
  })

  await t.test('a payload that NATS does not take is a clear error', async (t) => {
    await t.rejects(client.call(echo, { amount: 'x'.repeat(2_000_000), limit: 1 }), {
      message: /bytes for rounds\.v1\.test\.echo are more than NATS takes/,
    })
    await t.rejects(
      client.publishEvent({ id: 'evt_1', subject: 'events.v1.x', payload: new Uint8Array(2_000_000) }),
    )
  })

  await t.test('the micro protocol shows the service, its calls and its counters', async (t) => {
    const ping = await client.nc.request('$SRV.PING.rounds')
    t.match(ping.json(), {
      type: 'io.nats.micro.v1.ping_response',
      name: 'rounds',
      version: '1.2.3',
      id: String,
    })
    const info = await client.nc.request('$SRV.INFO')
    t.match(info.json(), { endpoints: [{ subject: echo.subject, queue_group: 'rounds' }, {}, {}] })
    const stats = (await client.nc.request(`$SRV.STATS.rounds.${ping.json<{ id: string }>().id}`)).json<{
      endpoints: { num_requests: number; num_errors: number; last_error: string }[]
    }>()
    t.ok((stats.endpoints[0]?.num_requests ?? 0) >= 2)
    t.match(stats.endpoints[1], { num_errors: 4, last_error: 'INTERNAL_ERROR' })
  })

  await t.test('two replicas share the calls of one queue group', async (t) => {
    const other = await connectBus({ url: natsUrl, service: 'rounds', logger })
    let mine = 0
    const counted = handler(echo, async (request) => {
      mine += 1
      return request
    })
    const second = await serveCalls({
      bus: other,
      service: 'rounds',
      version: '1',
      logger,
      handlers: [counted],
    })
    const before = contexts.length
    for (let sent = 0; sent < 60; sent++) await client.call(echo, { amount: '1', limit: 1 })
    t.equal(mine + contexts.length - before, 60)
    t.ok(mine > 0 && mine < 60)
    await second.stop()
    await other.close()
  })

  await t.test('stop() answers what is in flight and takes no more', async (t) => {
    const held = client.call({ ...slow, budgetMs: 5000 }, {})
    await waitFor(() => releases.length === 1, { what: 'a handler is at work' })
    const stopped = served.stop()
    await waitFor(
      async () => {
        const error: unknown = await client
          .call(echo, { amount: '1', limit: 1 })
          .catch((reason: unknown) => reason)
        return error instanceof ServiceError && error.cause === 'no-responders'
      },
      { what: 'nobody answers any more' },
    )
    releases.splice(0).forEach((release) => release())
    t.strictSame(await held, {})
    await stopped
  })

  await t.test('a handler of another service is refused at once', async (t) => {
    const stray = defineCall('auth.v1.test.echo', echo)
    await t.rejects(
      serveCalls({
        bus: server,
        service: 'rounds',
        version: '1',
        logger,
        handlers: [handler(stray, async (r) => r)],
      }),
      /belongs to auth/,
    )
  })
})

await t.test('calls that hang fill the places of their own account alone', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger } = memoryLogger()
  const server = await connectBus({ url: natsUrl, service: 'rounds', logger })
  const client = await connectBus({ url: natsUrl, service: 'gateway', logger })
  t.teardown(() => Promise.all([server.close(), client.close()]))
  let atWork = 0
  const released = Promise.withResolvers<void>()
  const hold = async ({ scope }: { scope: { operatorId: string } }) => {
    if (scope.operatorId === 'other') return {}
    atWork += 1
    await released.promise
    return {}
  }
  const served = await serveCalls({
    bus: server,
    service: 'rounds',
    version: '1',
    concurrencyMax: 8,
    logger,
    handlers: [handler(hang, hold), handler(owe, hold)],
  })
  const of = (operatorId: string) => ({ scope: { operatorId } })
  const hanging = Array.from({ length: 20 }, () => client.call(hang, of('slow')))
  const owing = Array.from({ length: 100 }, () => client.call(owe, of('slow')))
  const outcomes = Promise.allSettled(hanging)
  await waitFor(() => atWork === 4 + 32, { what: 'its places are full' })
  for (const call of [hang, owe]) t.strictSame(await client.call(call, of('other')), {}, call.subject)
  released.resolve()
  const answered = (await outcomes).filter(({ status }) => status === 'fulfilled')
  t.equal(answered.length, 4, 'half of the places that may be shed')
  t.equal((await Promise.all(owing)).length, 100, 'what settles money was never refused')
  await served.stop()
})

await t.test('nothing is begun while the clock is too far from the database', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger, lines } = memoryLogger()
  const server = await connectBus({ url: natsUrl, service: 'rounds', logger })
  const client = await connectBus({ url: natsUrl, service: 'gateway', logger })
  t.teardown(() => Promise.all([server.close(), client.close()]))
  let aheadMs = 0
  let begun = 0
  const served = await serveCalls({
    bus: server,
    service: 'rounds',
    version: '1',
    clockAheadMs: () => aheadMs,
    logger,
    handlers: [
      handler(settle, async () => {
        begun += 1
        return {}
      }),
    ],
  })
  t.teardown(() => served.stop())
  for (aheadMs of [clockDifferenceMaxMs, -clockDifferenceMaxMs]) await client.call(settle, {})
  t.equal(begun, 2)
  for (aheadMs of [clockDifferenceMaxMs + 1, -86_400_000]) {
    t.match(await rejected(client.call(settle, {})), { code: 'SERVICE_UNAVAILABLE' })
    const pong = await client.request('$SRV.PING.rounds', { timeoutMs: 5000 })
    t.match(pong.json(), { metadata: { clock_ahead_ms: String(aheadMs) } })
  }
  t.equal(begun, 2)

  const right = await connectBus({ url: natsUrl, service: 'rounds', logger })
  let others = 0
  const other = await serveCalls({
    ...{ bus: right, service: 'rounds', version: '1', logger },
    handlers: [
      handler(settle, async () => {
        others += 1
        return {}
      }),
    ],
  })
  t.teardown(() => other.stop().then(() => right.close()))
  const told = (msg: string) => lines.filter((line) => line.msg === msg).length
  await waitFor(() => told('calls.left') === 1, { what: 'it to leave' })
  await client.nc.flush()
  for (let call = 0; call < 20; call++) await client.call(settle, {})
  t.same([begun, others], [2, 20], 'the replica whose clock is right gets all calls')
  aheadMs = 0
  await waitFor(() => told('calls.joined') === 1, { what: 'it to come back' })
  await server.nc.flush()
  for (let call = 0; call < 40; call++) await client.call(settle, {})
  t.ok(begun > 2, 'both get calls again')
})

await t.test(
  'a service that answers no call neither leaves nor comes back while its clock is right',
  async (t) => {
    const { natsUrl } = await withEngines(t)
    const { logger, lines } = memoryLogger()
    const bus = await connectBus({ url: natsUrl, service: 'gateway', logger })
    t.teardown(() => bus.close())
    let looks = 0
    const clockAheadMs = () => {
      looks += 1
      return 0
    }
    const served = await serveCalls({
      ...{ bus, service: 'gateway', version: '1', clockAheadMs, logger },
      handlers: [],
    })
    t.teardown(() => served.stop())
    await waitFor(() => looks > 5, { what: 'some looks at the clock' })
    t.strictSame(lines, [])
  },
)

await t.test('while disconnected everything fails at once', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger } = memoryLogger()
  const bus = await connectBus({ url: natsUrl, service: 'gateway', logger })
  t.ok(bus.connected())
  await bus.close()
  await bus.closed
  t.notOk(bus.connected())
  t.match(await rejected(bus.call(unserved, {})), { code: 'SERVICE_UNAVAILABLE', cause: 'disconnected' })
  await t.rejects(
    bus.publishEvent({ id: 'evt_1', subject: 'events.v1.a', payload: new Uint8Array() }),
    /not connected/,
  )
  t.doesNotThrow(() => bus.publish('wake.webhooks.x', new Uint8Array()))
  await bus.close()
})

await t.test('a wrong password ends the connection attempt and never shows itself', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger } = memoryLogger()
  const url = natsUrl.replace(/:[^:@/]+@/, ':wrong-pass%40word@')
  const error = await connectBus({ url, service: 'gateway', logger }).catch((reason: unknown) => reason)
  t.ok(error instanceof Error)
  t.notMatch(String(error), /wrong-pass/)
  await t.rejects(connectBus({ url: 'http://user:hunter2@host', service: 'x', logger }), {
    message: /must look like/,
  })
  const plain = await connect({ servers: new URL(natsUrl).host, user: 'nobody', pass: 'x' }).catch(() => null)
  t.equal(plain, null)
})
