import { invalidField } from '@pitboss/errors/service-error'
import t from 'tap'
import { readRefusal } from '../../src/http/read-refusal.ts'
import { errorAnswer } from '../../src/http/send.ts'

t.test('what a refused request was told is kept, within bounds', async (t) => {
  const { json } = errorAnswer(invalidField('limits.max_stake', 'is required'), 'req_1')
  t.match(readRefusal(json), {
    code: 'VALIDATION_ERROR',
    answer: { details: [{ path: 'limits.max_stake', message: 'is required' }] },
  })
  const long = {
    ...{ code: 'VALIDATION_ERROR', request_id: 'req_1', message: 'm'.repeat(5000), retryable: false },
    details: Array.from({ length: 100 }, () => ({ path: 'p'.repeat(5000), message: 'x'.repeat(5000) })),
  }
  const kept = readRefusal(long)?.answer
  t.equal(kept?.message.length, 300)
  t.equal(kept?.details.length, 20)
  t.ok(kept?.details.every(({ path, message }) => path.length === 300 && message.length === 300))
})

t.test('an answer that is no error of ours is none', async (t) => {
  for (const json of [
    null,
    {},
    { code: 'TEAPOT', message: 'no', request_id: 'req_1' },
    { code: 'NOT_FOUND' },
  ])
    t.equal(readRefusal(json), null)
})
