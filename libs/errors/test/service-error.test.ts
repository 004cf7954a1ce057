import t from 'tap'
import { invalidField, readAll, ServiceError } from '../src/service-error.ts'

const wrong = (path: string) => () => {
  throw invalidField(path, 'is wrong')
}
const refused = () => {
  throw new ServiceError('CURRENCY_NOT_SUPPORTED')
}

t.test('parts of a request that are right are given in their order', (t) => {
  t.strictSame(
    readAll(
      () => 1n,
      () => 'two',
    ),
    [1n, 'two'],
  )
  t.end()
})

t.test('one answer names every part that is wrong, and shows the first', (t) => {
  t.throws(() => readAll(wrong('a'), () => 1, wrong('b')), {
    code: 'VALIDATION_ERROR',
    message: 'a: is wrong (1 more in details)',
    details: [
      { path: 'a', message: 'is wrong' },
      { path: 'b', message: 'is wrong' },
    ],
  })
  t.end()
})

t.test('another refusal counts where no part before it was wrong', (t) => {
  t.throws(() => readAll(refused, wrong('a')), { code: 'CURRENCY_NOT_SUPPORTED' })
  t.throws(() => readAll(wrong('a'), refused), { code: 'VALIDATION_ERROR', details: [{ path: 'a' }] })
  t.end()
})
