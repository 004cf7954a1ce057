import { setImmediate as nextTurn } from 'node:timers/promises'
import { startCollector } from '@pitboss/testing/otlp-collector'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { samplingRuleOf } from '../src/sampling-rule.ts'
import {
  inSpan,
  liveTraceparent,
  logFields,
  openSpan,
  recordedTraceparent,
  withSampled,
} from '../src/spans.ts'
import { startTracing } from '../src/start-tracing.ts'

const client = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00'

t.test('while tracing is off, spans are the work alone', async (t) => {
  const made = await inSpan('work', { kind: 'server', parent: client }, async (span) => {
    span.unknown()
    t.equal(span.traceparent, undefined)
    t.equal(liveTraceparent(), undefined)
    t.strictSame(logFields(), {})
    return 7
  })
  t.equal(made, 7)
  await t.rejects(
    inSpan('work', { kind: 'server' }, async () => {
      throw new RangeError('as it was')
    }),
    new RangeError('as it was'),
  )
})

t.test('while tracing is on', async (t) => {
  const collector = await startCollector(t)
  const told: string[] = []
  const tracing = await startTracing({
    settings: {
      rule: samplingRuleOf('parentbased_always_off', 0),
      url: `${collector.url}/v1/traces`,
      headers: {},
      timeoutMs: 2000,
      resource: { 'service.name': 'probe' },
      ...{ queueMax: 2048, batchMax: 512, everyMs: 10 },
    },
    tell: (problem) => told.push(problem),
  })
  t.teardown(() => tracing.stop())
  const exported = (name: string) =>
    waitFor(() => collector.spans.find((span) => span.name === name), { what: name })
  const sampled = withSampled(client, true)

  await t.test('a trace goes on under what is live, and with a remote parent where nothing is', async (t) => {
    await inSpan('server', { kind: 'server', parent: sampled, requestId: 'req_1' }, async (span) => {
      t.match(span.traceparent, /^00-0123456789abcdef0123456789abcdef-[0-9a-f]{16}-01$/)
      t.match(logFields(), { trace_id: client.slice(3, 35), request_id: 'req_1' })
      await nextTurn()
      await inSpan('inner', { kind: 'internal', orParent: client }, async () => {
        t.match(logFields(), { request_id: 'req_1' })
        t.equal(recordedTraceparent(), liveTraceparent())
      })
    })
    const server = await exported('server')
    t.match(server, { service: 'probe', parentId: '0123456789abcdef', kind: 2, isError: false })
    t.equal((await exported('inner')).parentId, server.spanId)
  })

  await t.test('a trace that nobody wished is not recorded', async (t) => {
    await inSpan('quiet', { kind: 'server', parent: client }, async () => {
      t.match(liveTraceparent(), /-00$/)
      t.equal(recordedTraceparent(), undefined)
    })
  })

  await t.test('an unknown outcome is recorded, and all of its trace from then on', async (t) => {
    const quiet = '00-aaaabbbbccccddddaaaabbbbccccdddd-0123456789abcdef-00'
    await inSpan('server of it', { kind: 'server', parent: quiet }, async () => {
      await inSpan('known', { kind: 'client' }, async () => undefined)
      await inSpan('lost', { kind: 'client' }, async (span) => span.unknown())
      t.match(recordedTraceparent(), /^00-aaaabbbbccccddddaaaabbbbccccdddd-[0-9a-f]{16}-01$/)
      await inSpan('after it', { kind: 'internal' }, async () => undefined)
    })
    t.match(await exported('lost'), { attributes: { 'pitboss.unknown_outcome': true } })
    await exported('after it')
    const again = { kind: 'client', parent: client, isUnknown: true } as const
    await inSpan('another process goes on', again, async () => undefined)
    await exported('another process goes on')
    const names = collector.spans.map(({ name }) => name)
    t.notOk(names.includes('known') || names.includes('quiet') || names.includes('server of it'))
  })

  await t.test('work that outlives its span hangs itself on nothing', async (t) => {
    const span = openSpan('short', { kind: 'server', parent: sampled })
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const later = span.run(async () => {
      await ended
      t.equal(liveTraceparent(), undefined)
      t.strictSame(logFields(), {})
    })
    span.end()
    end()
    await later
  })

  await t.test('a throw ends its span as failed', async (t) => {
    const failing = inSpan('failing', { kind: 'server', parent: sampled }, async () => {
      throw new RangeError('no')
    })
    await t.rejects(failing, new RangeError('no'))
    t.equal((await exported('failing')).isError, true)
  })

  t.strictSame(told, [])
  t.strictSame(collector.others, [])
})
