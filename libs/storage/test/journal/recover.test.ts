import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { claimKey, streamKey } from '../../src/journal/journal-keys.ts'
import { startFleet } from '../fixtures/journal-fleet.ts'

await t.test('claims of what is taken over are its own, or it is withdrawn', async (t) => {
  const fleet = await startFleet(t)
  const [left, lost] = [streamKey('left'), streamKey('lost')]
  const claimsOf = ({ _id }: { _id: string }) => [
    { key: claimKey('t', ['account'], _id.includes('left') ? '1' : '2') },
  ]
  const before = await fleet.start('before')
  // As a crash leaves it: the entries stand, and their claims do not.
  await before.append(left, 0, { facts: ['opened'] })
  await before.append(lost, 0, { facts: ['opened'] })
  await before.append(streamKey('first'), 0, {
    facts: ['opened'],
    claims: claimsOf({ _id: 'other' }),
    withdrawn: 'withdrawn',
  })
  await before.append(streamKey('first'), 1, { facts: ['ended'] })
  await before.running.stop()
  const heir = await fleet.start('heir', { claimsOf })
  await waitFor(async () => (await fleet.entries(lost)).length === 3 && heir.taken.length === 1)
  t.strictSame(heir.taken, [left])
  t.strictSame(
    (await fleet.entries(lost)).flatMap(({ f }) => f),
    ['opened', 'adopted', 'withdrawn'],
  )
})

await t.test('many unfinished streams of a process are all taken over, once each', async (t) => {
  const fleet = await startFleet(t)
  const before = await fleet.start('before')
  const streams = Array.from({ length: 1200 }, (_, index) => streamKey('many', String(index)))
  await Promise.all(streams.map((stream) => before.append(stream, 0, { facts: ['opened'] })))
  await before.running.stop()
  const [a, b] = await Promise.all([fleet.start('a'), fleet.start('b')])
  await waitFor(() => a.taken.length + b.taken.length === streams.length, { timeoutMs: 20_000 })
  t.strictSame([...a.taken, ...b.taken].toSorted(), streams.toSorted())
  t.equal(a.running.unownedTotal() + b.running.unownedTotal(), 0)
})
