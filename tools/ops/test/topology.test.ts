import { tryOps } from '@pitboss/testing/run-ops'
import { withEngines } from '@pitboss/testing/with-engines'
import t from 'tap'

const { natsUrl } = await withEngines(t)

process.env.NATS_URL = natsUrl

async function apply(...flags: string[]) {
  const result = await tryOps(null, 'topology', 'apply', '--json', ...flags)
  return { ...result, value: result.stdout === '' ? null : JSON.parse(result.stdout) }
}

const everything = (change: string) =>
  ['stream EVENTS', 'stream KV_access', 'consumer webhooks-fanout', 'consumer rounds-movements'].map(
    (what) => ({ what, change }),
  )

await t.test('a NATS of one’s own is prepared before any service runs, and only once', async (t) => {
  t.match(await apply('--replicas', '1', '--dry-run'), { code: 0, value: everything('created') })
  const first = await apply('--replicas', '1')
  t.match(first, { code: 0, value: everything('created') }, 'the dry run made nothing')
  t.match(first.stderr, 'no audit record')
  t.match(await apply('--replicas', '1'), { code: 0, value: everything('none'), stderr: '' })
})

await t.test('what the server refuses is said in its words', async (t) => {
  const { code, stdout, stderr } = await apply('--replicas', '3')
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(JSON.parse(stderr), { code: 'CONFLICT', message: /NATS refuses it: .*replicas/, retryable: false })
})

await t.test('the number of replicas has to be given', async (t) => {
  for (const flags of [[], ['--replicas', '2']]) {
    const { code, stdout, stderr } = await apply(...flags)
    t.match({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, '--replicas')
  }
})

await t.test('how much the stream of events keeps is given by flags or the environment', async (t) => {
  const differences = (value: unknown) => JSON.stringify(value)
  const planned = await apply('--replicas', '1', '--events-max-mb', '64', '--events-days', '7', '--dry-run')
  t.match(planned, { code: 0 })
  t.match(differences(planned.value), /max_age: wanted 604800000000000, .*max_bytes: wanted 67108864, /)
  t.match(await apply('--replicas', '1', '--events-max-mb', '64', '--events-days', '7'), { code: 0 })
  t.match(await apply('--replicas', '1', '--events-max-mb', '64', '--events-days', '7'), {
    ...{ code: 0, value: everything('none') },
  })
  const hours = await apply('--replicas', '1', '--events-max-mb', '64', '--events-hours', '20', '--dry-run')
  t.match(differences(hours.value), /max_age: wanted 72000000000000, /)
  for (const flags of [
    ['--events-max-mb', '0'],
    ['--events-hours', '0'],
    ['--events-days', '1.5'],
  ]) {
    const { code, stdout, stderr } = await apply('--replicas', '1', ...flags)
    t.match({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, 'must be a whole number from 1 to')
  }
})
