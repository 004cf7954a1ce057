import t from 'tap'
import type { RewindDocument } from '../../src/storage/documents.ts'
import { countInto, type HandledMessage } from '../../src/storage/rewind-store.ts'

const fresh: Omit<RewindDocument, '_id'> = {
  by: 'tester',
  reason: null,
  fromSeq: 5,
  toSeq: 10,
  countedSeq: 4,
  openSeqs: [],
  seen: 0,
  repaired: 0,
  unchanged: 0,
  parked: 0,
  done: false,
  createdAt: new Date('2026-11-20T00:00:00.000Z'),
}
const messages = (result: HandledMessage['result'], ...seqs: number[]) => seqs.map((seq) => ({ seq, result }))
const run = (...batches: HandledMessage[][]) =>
  batches.reduce<typeof fresh>((rewind, batch) => ({ ...rewind, ...countInto(rewind, batch) }), fresh)

t.test('what the consumer had before the rewind does not count', (t) => {
  t.equal(countInto(fresh, messages('unchanged', 9, 10)), null)
  t.equal(countInto(fresh, messages('unchanged', 11)), null)
  t.match(run(messages('unchanged', 10), messages('unchanged', 5, 6, 7)), {
    seen: 3,
    unchanged: 3,
    done: false,
  })
  t.end()
})

t.test('each message is seen once and ends once, whatever comes again', (t) => {
  const all = run(
    messages('unchanged', 5, 6),
    [...messages('repaired', 7), ...messages('again', 8), ...messages('unchanged', 9)],
    messages('unchanged', 6),
    messages('unchanged', 10),
  )
  t.match(all, { seen: 6, repaired: 1, done: false }, 'one message is still tried')
  t.match(run(messages('unchanged', 5, 6, 7, 8, 9, 10, 11, 12)), { seen: 6, unchanged: 6, done: true })
  t.end()
})

t.test('it is done when the last has ended, a parked one too', (t) => {
  const open = run(messages('unchanged', 5, 6, 7, 8, 9), messages('again', 10))
  t.match(open, { seen: 6, unchanged: 5, done: false })
  t.match({ ...open, ...countInto(open, messages('again', 10)) }, { seen: 6, done: false })
  t.match(
    { ...open, ...countInto(open, messages('parked', 10)) },
    { seen: 6, parked: 1, unchanged: 5, done: true },
  )
  t.end()
})
