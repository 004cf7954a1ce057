import t from 'tap'
import { describeBytes } from '../../src/fetch/progress.ts'

await t.test('tells bytes and the time that is left at the speed of late', async (t) => {
  t.equal(describeBytes(12_300_000, 38_100_000, 3_000_000), '12.3 of 38.1 MB, 9 s left')
  t.equal(describeBytes(12_300_000, 38_100_000, 100_000), '12.3 of 38.1 MB, 5 min left')
  t.equal(describeBytes(0, 38_100_000, null), '0.0 of 38.1 MB')
  t.equal(describeBytes(5_400_000, 38_100_000, 0), '5.4 of 38.1 MB', 'nothing comes at the moment')
  t.equal(describeBytes(38_100_000, 38_100_000, 1), '38.1 of 38.1 MB')
  t.equal(describeBytes(1_000_000, null, 1), '1.0 MB')
})
