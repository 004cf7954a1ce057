import t from 'tap'
import {
  requireKeyPermission,
  requireUncommonPassword,
  waitAfterTries,
} from '../../src/rules/people-rules.ts'

t.test('common passwords are refused, also in other letters and within digits and signs', async (t) => {
  for (const common of ['123456qwerty', 'Motherfucker', 'password12345', '!!!!!QWERTY!!!!!', '482759103847'])
    await t.rejects(
      requireUncommonPassword(common, 'password'),
      { code: 'VALIDATION_ERROR', message: 'password:' },
      common,
    )
  for (const good of [
    'a long enough password',
    'correct horse battery',
    'Zq0123456789x7Kd',
    'пароль на каждый день',
  ])
    await t.resolves(requireUncommonPassword(good, 'password'), good)
})

t.test('the wait for the next code grows and has a bound', (t) => {
  const waits = [0, 1, 2, 3, 4, 5, 12, 100].map(waitAfterTries)
  t.strictSame(waits, [0, 0, 0, 2000, 4000, 8000, 900_000, 900_000])
  t.end()
})

t.test('a DEVELOPER works with scoped TEST keys alone', (t) => {
  const scoped = { environment: 'TEST', scopes: ['games:read'] } as const
  const unscoped = { environment: 'TEST', scopes: [] } as const
  const live = { environment: 'LIVE', scopes: ['games:read'] } as const
  t.doesNotThrow(() => requireKeyPermission('DEVELOPER', scoped))
  for (const key of [unscoped, live]) {
    t.throws(() => requireKeyPermission('DEVELOPER', key), { code: 'FORBIDDEN' })
    t.doesNotThrow(() => requireKeyPermission('ADMIN', key))
  }
  t.end()
})
