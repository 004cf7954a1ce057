import t from 'tap'
import { describeBytes } from '../../src/fetch/progress.ts'

await t.test('tells bytes and the time that is left at the speed so far', async (t) => {
  t.equal(describeBytes(12_300_000, 38_100_000, 4_100), '12.3 of 38.1 MB, 9 s left')
  t.equal(describeBytes(0, 38_100_000, 4_100), '0.0 of 38.1 MB')
  t.equal(describeBytes(1_000_000, null, 4_100), '1.0 MB')
})
