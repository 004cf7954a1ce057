import t from 'tap'
import { createFairPlaces } from '../../src/limits/fair-places.ts'

function world() {
  let now = 0
  const given: string[] = []
  const places = createFairPlaces({ allMax: 6, perAccountMax: 2, undisturbedMs: 60_000, nowMs: () => now })
  const take = (account: string, name = account) => places.take(account, () => given.push(name))
  return { take, given, pass: (ms: number) => (now += ms) }
}

t.test('an account has two places while half are free, and one beside others', (t) => {
  const { take } = world()
  const [first, second] = [take('a'), take('a')]
  t.ok(first !== null && second !== null)
  t.equal(take('a'), null)
  t.ok(take('b'))
  t.equal(take('b'), null, 'half are taken')
  first?.()
  second?.()
  t.ok(take('b'), 'places that were left are free')
  t.end()
})

t.test('three accounts cannot keep all places', (t) => {
  const { take, given } = world()
  t.ok(take('a', 'a1') !== null && take('a', 'a2') !== null)
  for (const account of ['b', 'c', 'd', 'e']) t.ok(take(account), account)
  t.ok(take('f'), 'all are taken, and f has none')
  t.strictSame(given, ['a2'], 'the newest of who has several')
  t.equal(take('g'), null, 'six accounts with one each are left alone at first')
  t.strictSame(given, ['a2'])
  t.end()
})

t.test('who has had his time gives way to an account without a place', (t) => {
  const { take, given, pass } = world()
  const accounts = ['a', 'b', 'c', 'd', 'e', 'f']
  const leaves = accounts.map((account) => {
    pass(1000)
    return take(account)
  })
  pass(54_999)
  t.equal(take('g'), null)
  pass(1)
  t.ok(take('g'))
  t.strictSame(given, ['a'], 'the oldest')
  leaves[0]?.()
  t.equal(take('h'), null, 'leaving a place that was given away frees none')
  pass(1000)
  t.ok(take('h'))
  t.strictSame(given, ['a', 'b'])
  t.end()
})
