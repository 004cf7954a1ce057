import t from 'tap'
import { IdSet } from '../src/diff-ledger.ts'

await t.test('the set of ids knows what was added and nothing else', (t) => {
  const set = new IdSet()
  for (let index = 0; index < 50_000; index++)
    if (!set.add(`id-${index}`)) t.fail(`id-${index} was there already`)
  for (let index = 0; index < 50_000; index += 7)
    if (!set.has(`id-${index}`) || set.add(`id-${index}`)) t.fail(`id-${index}`)
  for (let index = 50_000; index < 60_000; index++)
    if (set.has(`id-${index}`)) t.fail(`id-${index} was never added`)
  t.equal(set.size, 50_000)
  t.end()
})
