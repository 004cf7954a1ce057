import { readFileSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import { connectBus } from '@pitboss/bus/connect-bus'
import { createOperatorClient } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { pino } from 'pino'
import t from 'tap'
import { type FaultProxy, startFaultProxy } from '../src/network/fault-proxy.ts'

/*
 * What Prometheus gets while something is broken. An alert whose metric is gone while the thing is broken
 * never fires.
 */

const rules = readFileSync(
  new URL('../../../deploy/k8s/components/monitoring/rules.yaml', import.meta.url),
  'utf8',
)
/** The alerts about the flow of events, by their rules. */
const ofEvents = [
  'EventsNotRecorded',
  'ConsumerBehind',
  'JournalBehind',
  'StreamFills',
  'PlayRefused',
  'DeliveriesLate',
]
const metricOf = (alert: string): string => {
  const [, rule = ''] = rules.split(`- alert: ${alert}\n`)
  return /pitboss_\w+/.exec(rule)?.[0] ?? `no metric of ${alert}`
}
/** What cannot be known while the engine that knows it is away; the others have to be there. */
const ofDatabase = new Set(['pitboss_journal_oldest_seconds'])
const ofBroker = new Set(['pitboss_consumer_pending', 'pitboss_stream_used_ratio'])
const consumer = 'webhooks-fanout'

async function startProxy(url: string): Promise<{ proxy: FaultProxy; url: string }> {
  const target = new URL(url)
  const proxy = await startFaultProxy({ target: { host: target.hostname, port: Number(target.port) } })
  target.hostname = '127.0.0.1'
  target.port = String(proxy.port)
  return { proxy, url: target.href }
}

t.test('every process answers a scrape, whatever is broken below it', async (t) => {
  const engines = await withEngines(t, { fresh: true })
  const direct = new URL(engines.mongodbUrl)
  direct.searchParams.delete('replicaSet')
  direct.searchParams.set('directConnection', 'true')
  const [database, broker] = [await startProxy(direct.href), await startProxy(engines.natsUrl)]
  t.teardown(() => Promise.all([database.proxy.close(), broker.proxy.close()]))
  const stack = await runStack(t, [], {
    MONGODB_URL: database.url,
    NATS_URL: broker.url,
    PITBOSS_DATABASE_PREFIX: engines.databasePrefix,
  })
  const demo = stack.demo()
  const player = await (await createOperatorClient(demo)).openSession({
    player_id: 'scraped',
    game: 'dice',
    currency: 'USD',
  })
  const play = () =>
    player.call('POST', '/game/rounds', { stake: '1.00', bet: { target: '50.00', direction: 'over' } })
  const services = [...new Set(demo.processes.map(({ name }) => name))].filter((name) =>
    ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks'].includes(name),
  )
  t.equal(services.length, 5)
  /** The metrics that have a value, of all services. */
  async function scrape(what: string): Promise<Set<string>> {
    const texts = await Promise.all(
      services.map(async (service) => {
        const url = demo.processes.find(({ name }) => name === service)?.http_url
        const answer = await fetch(`${url}/metrics`)
        const text = await answer.text()
        t.equal(answer.status, 200, `${service}, ${what}`)
        t.match(text, 'process_cpu_seconds_total', `${service}, ${what}`)
        return text
      }),
    )
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => !line.startsWith('#'))
    return new Set(lines.flatMap((line) => /^\w+/.exec(line)?.[0] ?? []))
  }
  async function check(what: string, unknowable: ReadonlySet<string> = new Set()): Promise<void> {
    const found = await scrape(what)
    for (const alert of ofEvents) {
      const metric = metricOf(alert)
      t.ok(found.has(metric) || unknowable.has(metric), `${alert} can fire, ${what}: ${metric}`)
    }
  }

  t.equal((await play()).status, 201)
  await check('all is well')

  database.proxy.put({ kind: 'hold', towards: 'both' })
  await check('the database does not answer', ofDatabase)
  database.proxy.calm()
  await waitFor(async () => (await play()).status === 201, { what: 'play goes on' })

  broker.proxy.put({ kind: 'hold', towards: 'both' })
  await check('the broker does not answer', ofBroker)
  broker.proxy.calm()
  broker.proxy.cut()
  await waitFor(async () => (await play()).status === 201, { what: 'play goes on' })

  const bus = await connectBus({ url: engines.natsUrl, service: 'test', logger: pino({ level: 'silent' }) })
  t.teardown(() => bus.close())
  const { consumers } = await jetstreamManager(bus.nc)
  await consumers.pause('EVENTS', consumer, new Date('2999-12-31T00:00:00Z'))
  const refusal = async () => String((await play()).body.message).includes('recorded again')
  await waitFor(refusal, { what: 'new play to be refused, since nothing is recorded' })
  await check('the consumer is paused')
  const ready = await fetch(`${demo.base_url}/readyz`)
  t.equal(ready.status, 200, 'the gateway stays ready')
  await consumers.delete('EVENTS', consumer)
  await check('the consumer is missing')
  await waitFor(async () => (await consumers.info('EVENTS', consumer).catch(() => null)) !== null, {
    what: 'the consumer to be made again',
  })
  await waitFor(async () => (await play()).status === 201, { what: 'play goes on' })
})
