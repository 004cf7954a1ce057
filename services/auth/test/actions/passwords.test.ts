import t from 'tap'
import { createPasswords } from '../../src/actions/passwords.ts'

t.test('a password is stored as argon2id and matches no other', async (t) => {
  const passwords = await createPasswords()
  const hashed = await passwords.hash('correct horse battery')
  t.match(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(hashed, await passwords.hash('correct horse battery'), 'each hash has its own salt')
  t.equal(await passwords.verify('correct horse battery', hashed), true)
  t.equal(await passwords.verify('correct horse batter', hashed), false)
  t.equal(await passwords.verify('correct horse battery', null), false, 'an unknown person has no password')
})

t.test('many logins at once wait in a bounded queue, which takes logins again afterwards', async (t) => {
  const passwords = await createPasswords()
  const hashed = await passwords.hash('correct horse battery')
  const attempts = Array.from({ length: 70 }, () =>
    passwords.verify('wrong', hashed).then(
      () => 'verified',
      (error: unknown) => error,
    ),
  )
  const outcomes = await Promise.all(attempts)
  t.equal(outcomes.filter((outcome) => outcome === 'verified').length, 66, 'two at work and 64 waiting')
  for (const refused of outcomes.slice(66)) t.match(refused, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 2 })
  t.equal(await passwords.verify('correct horse battery', hashed), true)
})
