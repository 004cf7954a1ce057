import t from 'tap'
import { createOutboxSweep, type DueOutbox } from '../src/outbox-sweep.ts'

const stopping = new AbortController().signal
const start = Date.UTC(2026, 10, 22)
const readMs = 20
const relayMs = 5
const widthOfTheSweep = 8

/** Documents that wait, on a clock that moves by what each step costs. */
function rig(waiting: DueOutbox[], { fails = () => false }: { fails?: (id: string) => boolean } = {}) {
  let nowMs = start
  const published: string[] = []
  const steps = { reads: 0, tried: 0, pauses: 0 }
  let left = waiting.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  const sweep = createOutboxSweep({
    now: () => new Date(nowMs),
    async read({ after, until, limit }) {
      steps.reads += 1
      nowMs += readMs
      return left.filter(({ at }) => at > after && at <= until).slice(0, limit)
    },
    async relay({ _id: id }) {
      steps.tried += 1
      nowMs += relayMs / widthOfTheSweep
      if (fails(id)) return false
      published.push(id)
      return true
    },
  })
  return {
    published,
    steps,
    elapsedMs: () => nowMs - start,
    waiting: () => left.length,
    async step() {
      const pauseMs = await sweep(stopping)
      const done = new Set(published)
      left = left.filter(({ key }) => !done.has(key._id))
      if (pauseMs === undefined) {
        steps.pauses += 1
        nowMs += 1000
      }
    },
  }
}

const backlog = (account: string, count: number, agoMs: number): DueOutbox[] =>
  Array.from({ length: count }, (_, index) => ({
    key: { _id: `${account}/${index}` },
    at: new Date(start - agoMs + index),
    account,
  }))

t.test('a backlog goes out without a pause', async (t) => {
  const { step, waiting, steps, elapsedMs } = rig(
    ['a', 'b', 'c', 'd'].flatMap((account) => backlog(account, 5000, 3_600_000)),
  )
  while (waiting() > 0) {
    t.equal(steps.pauses, 0)
    await step()
  }
  t.equal(steps.tried, 20_000, 'each once')
  t.equal(steps.pauses, 1, 'and then it rests')
  t.ok(steps.reads <= 120, `${steps.reads} pages`)
  t.ok(elapsedMs() < 20_000, 'pages of 200 with a pause after each took 100 pauses')
})

t.test('the long backlog of one account holds up nobody', async (t) => {
  const { step, published, steps } = rig([
    ...backlog('large', 50_000, 3_600_000),
    ...backlog('small', 100, 60_000),
  ])
  const ofSmall = () => published.filter((id) => id.startsWith('small')).length
  while (ofSmall() < 100) await step()
  const before = published.indexOf('small/99')
  t.ok(before <= 6000, `${before} of the other's 50,000 went before its last`)
  t.equal(steps.pauses, 0)
})

t.test('an account keeps the order of its documents, and two take turns', async (t) => {
  const { step, published } = rig([...backlog('a', 3, 60_000), ...backlog('b', 3, 30_000)])
  await step()
  t.strictSame(published, ['a/0', 'b/0', 'a/1', 'b/1', 'a/2', 'b/2'])
})

t.test('documents that cannot be published do not stand before the others', async (t) => {
  const { step, published, waiting, steps } = rig(
    [...backlog('bad', 3000, 3_600_000), ...backlog('good', 300, 60_000)],
    { fails: (id) => id.startsWith('bad') },
  )
  while (published.length < 300) await step()
  t.equal(waiting(), 3000)
  t.ok(steps.tried < 3000, `${steps.tried} tries`)
})

t.test('while nothing can be published every page is followed by a pause', async (t) => {
  const { step, steps } = rig(backlog('a', 5000, 3_600_000), { fails: () => true })
  for (let count = 0; count < 10; count++) await step()
  t.strictSame(steps, { reads: 10, tried: 900, pauses: 9 })
})

t.test('what waits for less than a second is left to the request that wrote it', async (t) => {
  const { step, published } = rig([
    { key: { _id: 'old' }, at: new Date(start - 1001), account: 'a' },
    { key: { _id: 'new' }, at: new Date(start - 500), account: 'a' },
  ])
  await step()
  t.strictSame(published, ['old'])
})
