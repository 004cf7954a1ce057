import t from 'tap'
import { createPlaces } from '../src/places.ts'

/** Offers work that hangs until it is ended, and keeps count. */
function rig(max: { shedMax: number; keptMax: number }) {
  const places = createPlaces(max)
  const begun: { account: string | null; end: () => void }[] = []
  return {
    places,
    begunBy: (account: string | null) => begun.filter((one) => one.account === account).length,
    order: () => begun.map(({ account }) => account),
    async end(count: number, account?: string) {
      const ended = begun.filter((one) => account === undefined || one.account === account).slice(0, count)
      for (const one of ended) {
        begun.splice(begun.indexOf(one), 1)
        one.end()
      }
      await new Promise((resolve) => setImmediate(resolve))
    },
    offer(account: string | null, neverShed: boolean, times = 1) {
      const answers = Array.from({ length: times }, () =>
        places.offer({
          account,
          neverShed,
          start: () => new Promise<void>((end) => void begun.push({ account, end })),
        }),
      )
      return answers.filter((answer) => answer === 'taken').length
    },
  }
}

t.test('calls of one account that hang leave half of the places, those of three a quarter', async (t) => {
  const one = rig({ shedMax: 512, keptMax: 4096 })
  t.equal(one.offer('a', false, 2000), 256)
  t.equal(one.offer('b', false), 1, 'another account finds a place')
  t.equal(one.offer(null, false), 1, 'and so does a call without an account')

  const three = rig({ shedMax: 512, keptMax: 4096 })
  for (let turn = 0; turn < 1000; turn++) for (const account of ['a', 'b', 'c']) three.offer(account, false)
  t.strictSame(
    ['a', 'b', 'c'].map((account) => three.begunBy(account)),
    [128, 128, 128],
  )
  t.equal(three.offer('d', false, 1000), 64, 'a fourth gets half of what is free')
})

t.test('places come back', async (t) => {
  const { offer, end, places } = rig({ shedMax: 8, keptMax: 8 })
  t.equal(offer('a', false, 10), 4)
  await end(4)
  t.equal(places.size, 0)
  t.equal(offer('a', false, 10), 4)
})

t.test('calls without an account are bounded by all places alone', (t) => {
  const { offer } = rig({ shedMax: 8, keptMax: 8 })
  t.equal(offer(null, false, 10), 8)
  t.equal(offer('a', false), 0)
  t.end()
})

t.test('settlement is never refused: it takes nothing from others and waits for its turn', async (t) => {
  const { offer, begunBy, end, places } = rig({ shedMax: 4, keptMax: 32 })
  t.equal(offer('a', true, 1000), 1000)
  t.equal(begunBy('a'), 16, 'one account holds half of the places')
  t.equal(offer('b', true, 3), 3)
  t.equal(begunBy('b'), 3, 'what another owes begins at once')
  t.equal(offer('c', false), 1, 'and what may be shed has places of its own')
  t.equal(places.size, 1004)
  await end(5, 'a')
  t.ok(begunBy('a') > 11, 'what waits takes the places that were given back')
  for (let turn = 0; turn < 200; turn++) await end(10)
  t.equal(places.size, 0, 'and all of it was begun')
})

t.test('those who wait take turns', async (t) => {
  const { offer, begunBy, end } = rig({ shedMax: 4, keptMax: 4 })
  for (const account of ['a', 'b', 'c', 'd']) offer(account, true)
  offer('a', true, 100)
  offer('e', true)
  await end(2, 'a')
  await end(1, 'b')
  await end(1, 'c')
  t.equal(begunBy('e'), 1, 'one call does not wait behind a hundred of another account')
})
