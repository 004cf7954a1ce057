import type { Journal } from '@pitboss/storage/journal/journal'
import { entryId } from '@pitboss/storage/journal/journal-keys'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import t from 'tap'
import { countedEntries } from '../../src/storage/rounds-journal.ts'
import type { RoundEntry, RoundFact } from '../../src/storage/round-stream.ts'
import { pendingAt, pendingRound } from '../fixtures/pending-round.ts'

const count = 40

/** The first entries of rounds, which count something. */
const entries = Array.from({ length: count }, (_, index): RoundEntry => {
  const { stream, fields } = pendingRound()
  const counted = { id: `fact_${index}`, rounds: 1, stakes: '1', payouts: '0', refunds: '0' }
  const written = { w: `w${index}`, o: 'ins_1', q: index + 1, at: pendingAt }
  return {
    _id: entryId(stream, 1),
    ...written,
    f: [{ base: fields }, { counted }] as unknown as RoundEntry['f'],
  }
})

/** A journal of these entries, and how it is read. */
function watchedJournal() {
  const reads = { all: 0, atOnce: 0, most: 0 }
  const unused = () => Promise.reject(new Error('it is only read'))
  const journal: Journal<RoundFact> = {
    store: {
      ...{ insert: unused, read: unused, readClaims: unused, readWritten: unused, removeClaim: unused },
      async readEntries(stream) {
        reads.all += 1
        reads.most = Math.max(reads.most, ++reads.atOnce)
        await new Promise(setImmediate)
        reads.atOnce -= 1
        return entries.filter(({ _id }) => _id.startsWith(`${stream}/`))
      },
    },
    memory: new BoundedMap(1000),
    ...{ nextWriter: unused, instance: () => 'ins_1', settled: () => undefined, newWrite: () => 'w' },
    ...{ now: () => pendingAt, steadyMs: () => 3_600_000, pause: unused },
  }
  return { journal, reads }
}

t.test('what is counted late is counted from memory, however old that is', async (t) => {
  const { journal, reads } = watchedJournal()
  for (const entry of entries)
    journal.memory.set(entry._id.slice(0, entry._id.lastIndexOf('/')), {
      ...{ entries: [entry], unclaimed: [], last: 1, end: 1, seenMs: 0 },
    })
  const counted = await countedEntries(journal, entries)
  t.strictSame(
    counted.map(({ facts }) => facts[0]?.id),
    entries.map((_, index) => `fact_${index}`),
  )
  t.equal(reads.all, 0)
})

t.test('rounds that are not remembered are read some at once', async (t) => {
  const { journal, reads } = watchedJournal()
  const counted = await countedEntries(journal, entries)
  t.strictSame(
    counted.map(({ entry: { q } }) => q),
    entries.map(({ q }) => q),
    'in their order',
  )
  t.equal(reads.all, count)
  t.equal(reads.most, 16)
})
