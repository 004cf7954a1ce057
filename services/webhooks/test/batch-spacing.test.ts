import t from 'tap'
import { pauseAfterBatchMs } from '../src/consumers/fanout.ts'

t.test('cheap batches begin 10 ms apart, dearer ones up to 20 ms, and slow ones at once', async (t) => {
  const apart = (tookMs: number) => tookMs + pauseAfterBatchMs(tookMs)
  t.same([0, 1, 3].map(apart), [10, 10, 10])
  t.same([4, 5, 6].map(apart), [12, 15, 18])
  t.same([7, 20].map(apart), [20, 20])
  t.same([20.5, 3000].map(pauseAfterBatchMs), [0, 0])
})
