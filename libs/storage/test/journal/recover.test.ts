import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import type { Duty } from '../../src/journal/duties.ts'
import { createSumStore, fold, type Sum } from '../../src/journal/fold.ts'
import type { Entry } from '../../src/journal/journal.ts'
import { claimKey, streamKey } from '../../src/journal/journal-keys.ts'
import { type Fact, startFleet } from '../fixtures/journal-fleet.ts'

await t.test('claims of what is taken over are its own, or it is withdrawn', async (t) => {
  const fleet = await startFleet(t)
  const [left, lost] = [streamKey('left'), streamKey('lost')]
  const claimsOf = ({ _id, f }: Entry<Fact>) =>
    f.includes('opened') ? [{ key: claimKey('t', ['account'], _id.includes('left') ? '1' : '2') }] : []
  const before = await fleet.start('before')
  // As a crash leaves it: the entries stand, and their claims do not.
  await before.append(left, 0, { facts: ['opened'] })
  await before.append(lost, 0, { facts: ['opened'] })
  await before.append(streamKey('first'), 0, {
    facts: ['opened'],
    claims: [{ key: claimKey('t', ['account'], '2') }],
  })
  await before.append(streamKey('first'), 1, { facts: ['ended'] })
  await before.running.stop()
  const heir = await fleet.start('heir', { claimsOf })
  await waitFor(async () => (await fleet.entries(lost)).length === 3 && heir.taken.length === 1)
  t.strictSame(heir.taken, [left])
  t.strictSame(
    (await fleet.entries(lost)).flatMap(({ f }) => f),
    ['opened', 'adopted'],
  )
})

await t.test(
  'what list documents show as unfinished is taken over, though nobody knows its owner',
  async (t) => {
    const fleet = await startFleet(t)
    const before = await fleet.start('before')
    const [open, ended] = [streamKey('open'), streamKey('ended')]
    await before.append(open, 0, { facts: ['opened'] })
    await before.append(ended, 0, { facts: ['opened'] })
    await Promise.all([before.running.listed(open, 1), before.running.listed(ended, 1)])
    await before.append(ended, 1, { facts: ['ended'] })
    const o = before.running.journal.instance() ?? ''
    await before.running.stop()
    await fleet.db.collection<{ _id: string }>('journal_instances').deleteOne({ _id: o })
    const heir = await fleet.start('heir')
    const own = heir.running.journal.instance()
    await waitFor(async () => (await fleet.listed(open))?.o === own && (await fleet.listed(ended))?.n === 2)
    t.strictSame(heir.taken, [open])
    t.match(await fleet.listed(open), { isOpen: true })
    t.match(await fleet.listed(ended), { isOpen: false })
  },
)

await t.test('what has waited for long keeps no process from being ready', async (t) => {
  const fleet = await startFleet(t)
  const before = await fleet.start('before')
  const stream = streamKey('waits')
  await before.append(stream, 0, { facts: ['opened'] })
  await before.running.listed(stream, 1)
  await waitFor(async () => (await fleet.instance(before))?.done === 1)
  await before.running.stop()
  const held = Promise.withResolvers<void>()
  const asked: string[] = []
  const takeOver = async (key: string) => {
    asked.push(key)
    await held.promise
  }
  await fleet.start('heir', { takeOver })
  await waitFor(() => asked.length > 0)
  held.resolve()
  t.strictSame(asked, [stream])
})

await t.test('many unfinished streams of a process are all taken over, once each', async (t) => {
  const fleet = await startFleet(t)
  const before = await fleet.start('before')
  const streams = Array.from({ length: 450 }, (_, index) => streamKey('many', String(index)))
  await Promise.all(streams.map((stream) => before.append(stream, 0, { facts: ['opened'] })))
  await before.running.stop()
  const [a, b] = await Promise.all([fleet.start('a'), fleet.start('b')])
  await waitFor(() => a.taken.length + b.taken.length === streams.length)
  t.strictSame([...a.taken, ...b.taken].toSorted(), streams.toSorted())
  t.equal(a.running.unownedTotal() + b.running.unownedTotal(), 0)
})

await t.test('a sum counts each entry once, also those of a process that ended before it had', async (t) => {
  const fleet = await startFleet(t)
  const collection = fleet.db.collection<Sum & { opened: number }>('sums')
  const sums = createSumStore(fleet.db, collection)
  const isBroken = { before: true }
  const count = (isDown: () => boolean): Duty<Fact> => ({
    name: 'count',
    async run(entries, missing) {
      if (isDown()) throw new Error('down')
      await fold(sums, 'all', { entries, missing }, (sum, fresh) => ({
        opened: (sum?.opened ?? 0) + fresh.filter(({ f }) => f.includes('opened')).length,
      }))
    },
  })
  const before = await fleet.start('before', { duties: [count(() => isBroken.before)] })
  const streams = Array.from({ length: 700 }, (_, index) => streamKey('counted', String(index)))
  const open = (some: readonly string[]) =>
    Promise.all(some.map((stream) => before.append(stream, 0, { facts: ['opened'] })))
  await open(streams.slice(0, 300))
  isBroken.before = false
  await waitFor(async () => (await collection.findOne({ _id: 'all' }))?.opened === 300)
  isBroken.before = true
  await open(streams.slice(300))
  const o = before.running.journal.instance() ?? ''
  await before.running.stop()
  await fleet.start('heir', { duties: [count(() => false)] })
  await waitFor(async () => (await collection.findOne({ _id: 'all' }))?.opened === 700)
  t.ok((await collection.findOne({ _id: 'all' }))?.cursors[o])
})
