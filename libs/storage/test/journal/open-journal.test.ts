import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { append, type Entry, load } from '../../src/journal/journal.ts'
import { streamKey } from '../../src/journal/journal-keys.ts'
import { createSteadyClock } from '@pitboss/runtime/steady-clock'
import { type Fact, startFleet } from '../fixtures/journal-fleet.ts'

const event = (id: string) => ({ id, subject: `events.${id}`, body: `{"id":"${id}"}` })
const facts = (entries: readonly Entry<Fact>[]) => entries.flatMap(({ f }) => f)

await t.test('a running journal on a real engine', async (t) => {
  const fleet = await startFleet(t)

  await t.test('an entry is listed, then published, and done once webhooks has recorded it', async (t) => {
    const registry = new Registry()
    const a = await fleet.start('a', { registry })
    const notDone = async () =>
      (await registry.getSingleMetric('pitboss_journal_not_done')?.get())?.values[0]?.value
    const stream = streamKey('listed')
    await a.append(stream, 0, { facts: ['opened'] })
    await a.append(stream, 1, { facts: ['ended'], events: [event('evt_1'), event('evt_2')] })
    await a.running.listed(stream, 2)
    t.match(await fleet.listed(stream), { n: 2, facts: ['opened', 'ended'] })
    await waitFor(() => fleet.stream.published.length === 2, { what: 'both events' })
    t.strictSame(fleet.stream.published, ['evt_1', 'evt_2'])
    await waitFor(async () => (await fleet.instance(a))?.last === 2)
    t.equal((await fleet.instance(a))?.done, 1, 'the entry with events waits until they are recorded')
    t.equal(await notDone(), 1)
    fleet.stream.record()
    await waitFor(async () => (await fleet.instance(a))?.done === 2)
    t.equal((await fleet.instance(a))?.oldestAt, null)
    t.equal(await notDone(), 0)
    await a.running.stop()
  })

  await t.test('a stream that nobody asks for has its list document within seconds', async () => {
    const a = await fleet.start('b')
    const stream = streamKey('quiet')
    await a.append(stream, 0, { facts: ['opened'] })
    await waitFor(async () => (await fleet.listed(stream))?.n === 1)
    await a.running.stop()
  })

  await t.test('a person’s order moves to the audit log, and its entry is done then', async (t) => {
    const order = sampleAuditEntry()
    const log: unknown[] = []
    const isAway = { now: true }
    const a = await fleet.start('audited', {
      duties: [
        {
          name: 'audit',
          async run(entries) {
            if (isAway.now) throw new Error('auth is away')
            log.push(...entries.flatMap(({ au }) => au ?? []))
          },
        },
      ],
    })
    const { q } = await a.append(streamKey('audited'), 0, { facts: ['ended'], audit: order })
    await waitFor(() => a.lines().some(({ msg }) => msg === 'journal.duty-failed'))
    t.equal((await fleet.instance(a))?.done, 0)
    isAway.now = false
    await waitFor(async () => Number((await fleet.instance(a))?.done) >= q)
    t.strictSame(log, [order])
    await a.running.stop()
  })

  await t.test('what a clean end leaves unfinished is taken over by another process', async (t) => {
    const [a, b] = [await fleet.start('c'), await fleet.start('d')]
    const stream = streamKey('left')
    await a.append(stream, 0, { facts: ['opened'] })
    await a.running.stop()
    await waitFor(() => b.taken.includes(stream))
    const { entries } = await load(b.running.journal, stream)
    t.strictSame(facts(entries), ['opened', 'adopted'])
    t.strictSame(
      await a.tryAppend(stream, 1, { facts: ['ended'] }),
      { kind: 'unknown' },
      'and who has ended writes no more',
    )
    await b.running.stop()
  })
})

t.test('events do not go with claims', async (t) => {
  const fleet = await startFleet(t)
  const { journal } = (await fleet.start('a')).running
  const stream = streamKey('refused')
  const soon = journal.steadyMs() + 1000
  const claims = [{ key: 't/1' }]
  const both = { facts: ['opened'], claims, events: [event('evt_9')] } as const
  await t.rejects(append(journal, stream, 0, both, soon), /events/)
})

t.test('the steady clock never goes back, and passes while the machine sleeps', async (t) => {
  const time = { monotonic: 500, wall: 1_000_000 }
  const steadyMs = createSteadyClock(
    () => time.monotonic,
    () => time.wall,
  )
  t.equal(steadyMs(), 500)
  time.monotonic += 100
  time.wall += 101
  t.equal(steadyMs(), 600)
  time.wall += 60_000
  t.equal(steadyMs(), 60_601)
  time.wall -= 3_600_000
  t.equal(steadyMs(), 60_601, 'a wall clock that is set back changes nothing')
  time.monotonic += 10
  time.wall += 10
  t.equal(steadyMs(), 60_611)
})
