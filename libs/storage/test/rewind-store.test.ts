import { newId } from '@pitboss/runtime/new-id'
import { systemClock } from '@pitboss/runtime/clock'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { createRewindStore, rewindIndexes } from '../src/rewind-store.ts'
import { bitsOf, countParts, type HandledMessage, partSize } from '../src/rewind-tally.ts'
import { testStorage } from './fixtures/test-storage.ts'

const entryOf = () => sampleAuditEntry()
const order = { by: 'tester', reason: null, dryRun: false }
const messages = (result: HandledMessage['result'], from: number, to = from): HandledMessage[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ seq: from + index, result }))

t.test('a part counts each message once, whatever comes of it later', (t) => {
  const last = partSize - 1
  const bits = bitsOf(1, [
    ...messages('unchanged', 1, 3),
    ...messages('repaired', 32),
    ...messages('parked', 64),
  ])
  t.strictSame(bits, {
    'seen.w0': { or: 0b111 | (1 << 31) },
    'repaired.w0': { or: 1 << 31 },
    'seen.w1': { or: 1 << 31 },
    'parked.w1': { or: 1 << 31 },
  })
  t.strictSame(Object.keys(bitsOf(0, messages('unchanged', last))), ['seen.w31'])
  const part = { seen: { w0: -1, w1: 0b111 }, repaired: { w1: 0b011 }, parked: { w1: 0b110 } }
  t.strictSame(
    countParts([part, { seen: { w5: 1 } }]),
    { seen: 36, repaired: 2, unchanged: 33, parked: 1 },
    'repaired goes before parked, parked before unchanged',
  )
  t.end()
})

t.test('rewinds', async (t) => {
  const { db } = await testStorage(t)
  await ensureIndexes(db, rewindIndexes)
  const replica = () => createRewindStore({ db, clock: systemClock, newId })
  const [one, other] = [replica(), replica()]
  const parts = db.collection('rewind_parts')

  await t.test('several replicas count, in no order, what comes again and again', async (t) => {
    t.strictSame([await one.open(), await other.open()], [[], []])
    const toSeq = 3 * partSize
    const { rewind_id: id } = await one.start({ order, fromSeq: 11, toSeq }, entryOf)
    const [open, otherOpen] = await Promise.all([one.open(), other.open()])
    t.match([open, otherOpen], [[{ _id: id }], [{ _id: id }]], 'every replica knows of it when it has begun')

    const outside = [...messages('repaired', 1, 10), ...messages('repaired', toSeq + 1, toSeq + 9)]
    await one.count(open, outside)
    await Promise.all([
      one.count(open, messages('unchanged', 1000, 1400)),
      other.count(otherOpen, messages('unchanged', 1300, 1600)),
      other.count(otherOpen, messages('repaired', 1350)),
      one.count(open, messages('unchanged', 1350)),
      other.count(otherOpen, messages('parked', 11)),
    ])
    const expected = { seen: 602, repaired: 1, unchanged: 600, parked: 1 }
    t.match(await one.progress(id, 0), { ...expected, from_seq: 11, to_seq: toSeq, done: false })
    t.match(await other.progress(id, 10 + partSize), { ...expected, done: false })
    t.equal(await parts.countDocuments({ rewindId: id }), 1, 'what is passed is added up')
    await one.count(open, messages('repaired', 11))
    t.match(await one.progress(id, 10 + partSize), { ...expected, done: false }, 'and stays as it is')
    await one.count(open, messages('unchanged', 2000))
    const asked = await Promise.all([one, other].map((store) => store.progress(id, toSeq)))
    for (const answer of asked)
      t.match(answer, { seen: 603, repaired: 1, unchanged: 601, parked: 1, done: true })
    await other.count(otherOpen, messages('repaired', 2001))
    t.match(await one.progress(id, toSeq), { seen: 603, done: true }, 'it has ended')
  })

  await t.test('it ends when the consumer has passed, though nothing of it was there any more', async (t) => {
    const { rewind_id: id } = await one.start({ order, fromSeq: 5, toSeq: 9 }, entryOf)
    t.match(await one.progress(id, 8), { seen: 0, done: false })
    t.match(await one.progress(id, 9), { seen: 0, repaired: 0, unchanged: 0, parked: 0, done: true })
  })

  await t.test(
    'a dry run opens none; a range that is none, and an unknown rewind, are refused',
    async (t) => {
      const { rewind_id: id } = await one.start(
        { order: { ...order, dryRun: true }, fromSeq: 1, toSeq: 2 },
        entryOf,
      )
      await t.rejects(one.progress(id, 0), { code: 'NOT_FOUND' })
      await t.rejects(one.start({ order, fromSeq: 3, toSeq: 2 }, entryOf), { code: 'VALIDATION_ERROR' })
    },
  )
})
