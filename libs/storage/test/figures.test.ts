import type { Scope } from '@pitboss/contracts/caller'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { createFiguresStore, figureIndexes } from '../src/figures-store.ts'
import { foldFigures, type FigureFact, settledAfterMs } from '../src/fold-figures.ts'
import { seriesWindow } from '../src/read-series.ts'
import { testStorage } from './fixtures/test-storage.ts'

const at = (time: string) => new Date(`2026-11-20T${time}Z`)
const day = { from: at('00:00:00'), to: at('23:59:00') }

t.test('a window is whole steps of UTC, and bounded', (t) => {
  const now = at('12:34:56')
  t.strictSame(seriesWindow({}, now), {
    from: new Date('2026-11-19T12:30:00Z'),
    to: at('12:35:00'),
    stepS: 300,
  })
  t.strictSame(seriesWindow({ from: '2026-11-20T12:00:00Z', step_s: 3600 }, now), {
    from: at('12:00:00'),
    to: at('13:00:00'),
    stepS: 3600,
  })
  const refused = [
    { from: '2026-11-20T12:34:56Z' },
    { from: '2026-10-20T12:34:55Z' },
    { from: '2026-11-18T12:34:56Z', step_s: 60 as const },
  ]
  for (const query of refused) t.throws(() => seriesWindow(query, now), { code: 'VALIDATION_ERROR' })
  t.end()
})

t.test('figures', async (t) => {
  const { db } = await testStorage(t)
  await ensureIndexes(db, figureIndexes)
  const figures = createFiguresStore(db)
  const scope: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
  const facts: FigureFact[] = []
  const tell = (time: string, ...counts: string[]) =>
    facts.push({ scope, subject: 'one', at: at(time), counts })
  const fold = (time: string, store = figures, read = facts) =>
    foldFigures({
      figures: store,
      clock: { now: () => at(time) },
      async *readFacts(from) {
        yield* read.filter((fact) => fact.at >= from)
      },
    })
  const stored = async (of: Scope = scope) =>
    (await figures.read(of, 'one', day.from, day.to)).map(({ at: minute, counters }) => [
      minute.toISOString().slice(11, 16),
      counters,
    ])

  await fold('10:00:00')
  tell('10:00:10', 'ok', 'd1')
  tell('10:00:59.999', 'ok')
  tell('10:01:00', 'failed')

  await t.test('a run that died before it was done, and one beside it, count nothing twice', async (t) => {
    const dying = {
      ...figures,
      moveFinal: () => Promise.reject(new Error('killed')),
    }
    await t.rejects(fold('10:01:30', dying), { message: 'killed' })
    await Promise.all([fold('10:01:31'), fold('10:01:32')])
    const expected = [
      ['10:00', { ok: 2, d1: 1 }],
      ['10:01', { failed: 1 }],
    ]
    t.strictSame(await stored(), expected)
    await fold('10:05:00')
    t.strictSame(await stored(), expected)
  })

  await t.test('a record that lands late is counted as long as its minute is not final', async (t) => {
    const lateMs = settledAfterMs - 1000
    tell('10:04:58', 'late')
    await fold(new Date(at('10:04:58').getTime() + lateMs).toISOString().slice(11, 23))
    t.strictSame((await stored()).at(-1), ['10:04', { late: 1 }])
    await fold('10:10:00')
    t.strictSame(await figures.finalUntil(), at('10:08:00'))
  })

  await t.test('a process that stood still overwrites nothing that was read later', async (t) => {
    tell('10:12:10', 'first')
    const paused = facts.slice()
    tell('10:12:50', 'second')
    await fold('10:15:00')
    const standing = { ...figures, finalUntil: () => Promise.resolve(at('10:12:00')) }
    await fold('10:12:30', standing, paused)
    t.strictSame((await stored()).at(-1), ['10:12', { first: 1, second: 1 }])
    t.strictSame(await figures.finalUntil(), at('10:13:00'), 'nor does the final time go back')
  })

  await t.test('after a standstill the hours are made up, in bounded parts', async (t) => {
    tell('12:59:00', 'back')
    let runs = 1
    while (await fold('13:05:00')) runs += 1
    t.equal(runs, 3)
    t.strictSame((await stored()).at(-1), ['12:59', { back: 1 }])
    t.strictSame(await figures.finalUntil(), at('13:03:00'))
  })

  await t.test('another account, and the other environment, read none', async (t) => {
    t.strictSame(await stored({ ...scope, operatorId: randomUUID() }), [])
    t.strictSame(await stored({ ...scope, environment: 'LIVE' }), [])
  })
})
