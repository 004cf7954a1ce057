import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { createPacesStore } from '../../src/wings/protection/storage/paces-store.ts'

const scope = { operatorId: '00000000-0000-4000-8000-0000000000aa', environment: 'SANDBOX' } as const
const gapMs = 5000

t.test('a repeat does not bring a start forward', async (t) => {
  const paces = createPacesStore({ db: await openTestDatabase(t) })
  const start = (startedBy: string, madeAtMs: number, startedAtMs: number) =>
    paces.start(
      scope,
      'player',
      { startedAt: new Date(startedAtMs), startedBy },
      { madeAt: new Date(madeAtMs), notAfter: new Date(madeAtMs - gapMs) },
    )
  t.equal(await start('first', 0, 3), true)
  t.equal(await start('second', 4000, 5100), false, 'its round was made too early')
  t.equal(await start('second', 5050, 5150), true)
  t.equal(await start('second', 4100, 5200), false, 'so was that of a repeat which has waited')
  t.equal(await start('second', 5300, 5400), true, 'a repeat of later may have the round')
  t.equal(await start('third', 6000, 6100), false)
})
