import t from 'tap'
import { waitFor } from '../src/wait-for.ts'

await t.test('gives what the condition gives as soon as it is met', async (t) => {
  let looks = 0
  t.equal(await waitFor(() => (++looks === 3 ? 'met' : null), { timeoutMs: 1_000 }), 'met')
  t.equal(looks, 3)
})

await t.test(
  'a condition that throws is not met yet; the time-out says what was waited for and why',
  async (t) => {
    const failing = waitFor(() => Promise.reject(new Error('refused')), { timeoutMs: 30, what: 'the server' })
    await t.rejects(failing, { message: /^the server: not within \d+ ms$/, cause: { message: 'refused' } })
  },
)

await t.test('zero and the empty string are answers', async (t) => {
  t.equal(await waitFor(() => 0), 0)
  t.equal(await waitFor(() => ''), '')
})
