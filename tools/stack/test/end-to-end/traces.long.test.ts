import { randomBytes } from 'node:crypto'
import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { startCollector } from '@pitboss/testing/otlp-collector'
import type { SpanRecord } from '@pitboss/testing/read-spans'
import { runStack } from '@pitboss/testing/run-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'

/** Traces over real processes, as a collector gets them. */

const newTraceparent = (flags: string) =>
  `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-${flags}`
const traceOf = (traceparent: string) => traceparent.split('-')[1] ?? ''
const fast = { OTEL_BSP_SCHEDULE_DELAY: '100', PITBOSS_LOG_LEVEL: 'info' }

/** Plays rounds of dice that nearly always win, each with a traceparent, until one has won. */
async function winRound(demo: ReturnType<Awaited<ReturnType<typeof runStack>>['demo']>, flags: string) {
  const operator = await createOperatorClient(demo)
  const player = await operator.openSession({ player_id: 'alice', game: 'dice', currency: 'USD' })
  return waitFor(
    async () => {
      const traceparent = newTraceparent(flags)
      const answer = await send('POST', `${demo.base_url}/v1/game/rounds`, {
        token: player.playerToken,
        headers: { traceparent },
        body: { stake: '1.00', bet: { target: '10.00', direction: 'over' } },
      })
      const { outcome, id } = answer.body
      if (typeof outcome !== 'object' || outcome === null || !('payout' in answer.body)) return null
      return answer.body.payout === '0.00' ? null : { traceparent, roundId: String(id), answer }
    },
    { what: 'a round that wins' },
  )
}

t.test('one won round is one trace, from the request to the delivery', async (t) => {
  const collector = await startCollector(t)
  const stack = await runStack(t, [], { ...fast, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { traceparent, answer } = await winRound(stack.demo(), '01')
  const traceId = traceOf(traceparent)
  const ofTrace = () => collector.spans.filter((span) => span.traceId === traceId)
  const named = (name: string | RegExp) =>
    ofTrace().filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)))
  await waitFor(
    () => named('deliver round.completed').length > 0 && named('deliver transaction.win').length > 0,
    {
      what: 'the deliveries in the trace',
    },
  )
  await waitFor(() => danglingOf(ofTrace(), traceparent).length === 0, { what: 'every parent to come in' })
  const spans = ofTrace()
  const shown = spans.map(({ service, name }) => `${service}: ${name}`).toSorted()
  t.comment([...new Set(shown)].join('\n'))

  const chain = (leaf: SpanRecord | undefined) => {
    const names: string[] = []
    for (let span = leaf; span !== undefined; ) {
      names.unshift(`${span.service}: ${span.name}`)
      const { parentId }: SpanRecord = span
      span = spans.find(({ spanId }) => spanId === parentId)
    }
    return names
  }
  t.strictSame(chain(named('wallet debit')[0]), [
    'gateway: POST /v1/game/rounds',
    'gateway: call rounds.v1.player.play',
    'rounds: rounds.v1.player.play',
    'rounds: call wallet.v1.movement.place',
    'wallet-bridge: wallet.v1.movement.place',
    'wallet-bridge: wallet debit',
  ])
  const delivered = chain(named('deliver round.completed')[0])
  t.match(delivered[0], 'gateway: POST /v1/game/rounds')
  t.strictSame(delivered.slice(-4), [
    'rounds: rounds.v1.player.play',
    'rounds: publish round.completed',
    'webhooks: record round.completed',
    'webhooks: deliver round.completed',
  ])
  t.strictSame(chain(named('deliver transaction.win')[0]).slice(-4), [
    'wallet-bridge: wallet.v1.movement.place',
    'wallet-bridge: publish transaction.win',
    'webhooks: record transaction.win',
    'webhooks: deliver transaction.win',
  ])
  t.equal(named('wallet credit').length, 1)
  for (const service of ['rounds', 'wallet-bridge', 'webhooks']) {
    const commands = spans.filter(
      (span) => span.service === service && span.attributes['db.system.name'] === 'mongodb',
    )
    t.ok(commands.length > 0, `${service} shows its commands to the database`)
    t.notMatch(JSON.stringify(commands.map(({ attributes }) => attributes)), /alice|1\.00/, 'without values')
  }
  const requestId = answer.headers.get('x-request-id')
  t.equal(named('POST /v1/game/rounds')[0]?.attributes['pitboss.request_id'], requestId)
  const lines = stack.printed().split('\n')
  for (const [service, message] of [
    ['gateway', 'request.served'],
    ['rounds', 'call.served'],
    ['wallet-bridge', 'wallet-call.ended'],
  ] as const) {
    const told = lines.some(
      (line) =>
        line.includes(`"service":"${service}"`) &&
        line.includes(`"msg":"${message}"`) &&
        line.includes(`"trace_id":"${traceId}"`) &&
        line.includes(`"request_id":"${requestId}"`),
    )
    t.ok(told, `a line of ${service} names trace and request`)
  }
  t.ok(spans.every(({ startNs, endNs }) => startNs > 0n && endNs >= startNs))
  t.strictSame(collector.others, [])
})

/** Spans whose parent is neither there nor the client's own. */
function danglingOf(spans: readonly SpanRecord[], client: string): SpanRecord[] {
  const known = new Set([...spans.map(({ spanId }) => spanId), client.split('-')[2]])
  return spans.filter(({ parentId }) => parentId === null || !known.has(parentId))
}

t.test('clients have few traces recorded, and an unknown outcome always is', async (t) => {
  const collector = await startCollector(t)
  const stack = await runStack(t, [], {
    ...fast,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
    PITBOSS_LIMIT_CLIENT_TRACES_PER_S: '1',
  })
  const demo = stack.demo()
  const asked = Array.from({ length: 60 }, () => newTraceparent('01'))
  const quiet = Array.from({ length: 20 }, () => newTraceparent('00'))
  const startedMs = performance.now()
  await Promise.all(
    [...asked, ...quiet].map((traceparent) =>
      send('GET', `${demo.base_url}/v1/public/openapi.json`, { headers: { traceparent } }),
    ),
  )
  const elapsedS = (performance.now() - startedMs) / 1000
  const tracesWith = (traceparents: readonly string[]) => {
    const wanted = new Set(traceparents.map(traceOf))
    return new Set(collector.spans.map(({ traceId }) => traceId).filter((id) => wanted.has(id)))
  }
  await waitFor(() => tracesWith(asked).size > 0, { what: 'a trace that its client wished' })

  const { wallet } = demo
  const rule = { kind: 'drop', operation: 'debit', player_id: 'bob', count: 1, apply: true }
  const put = await send('PUT', `${wallet.url}/sandbox/faults`, { body: { rules: [rule] } })
  t.equal(put.status, 200)
  const operator = await createOperatorClient(demo)
  const player = await operator.openSession({ player_id: 'bob', game: 'dice', currency: 'USD' })
  const traceparent = newTraceparent('00')
  await send('POST', `${demo.base_url}/v1/game/rounds`, {
    token: player.playerToken,
    headers: { traceparent },
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === traceOf(traceparent))
  const calls = await waitFor(
    () => {
      const found = ofTrace().filter(({ name }) => name.startsWith('wallet '))
      return found.length >= 2 ? found : null
    },
    { what: 'the lost call and the next one', timeoutMs: 60_000 },
  )
  const [lost, next] = calls.toSorted((a, b) => (a.startNs < b.startNs ? -1 : 1))
  t.match(lost, { name: 'wallet debit', attributes: { 'pitboss.judged': 'unknown' }, isError: true })
  t.equal(lost?.attributes['pitboss.unknown_outcome'], true)
  t.equal(next?.attributes['pitboss.unknown_outcome'], true)
  t.equal(next?.attributes['pitboss.transaction_id'] !== undefined, true)
  await waitFor(() => ofTrace().some(({ name }) => name.startsWith('deliver ')), {
    what: 'the delivery of what became of it',
    timeoutMs: 60_000,
  })
  const recorded = tracesWith(asked).size
  t.ok(recorded <= 1 + Math.ceil(elapsedS), `${recorded} of 60 in ${elapsedS.toFixed(1)} s`)
  t.equal(tracesWith(quiet).size, 0, 'nothing that nobody wished')
})
