import t from 'tap'
import { createPasswords } from '../../src/actions/passwords.ts'

t.test('a password is kept as argon2id and only itself fits', async (t) => {
  const passwords = await createPasswords()
  const hashed = await passwords.hash('correct horse battery')
  t.match(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(hashed, await passwords.hash('correct horse battery'), 'each has a salt of its own')
  t.equal(await passwords.verify('correct horse battery', hashed), true)
  t.equal(await passwords.verify('correct horse batter', hashed), false)
  t.equal(await passwords.verify('correct horse battery', null), false, 'nobody has no password')
})

t.test('a wave of logins waits in a bounded line, and the line is open again afterwards', async (t) => {
  const passwords = await createPasswords()
  const hashed = await passwords.hash('correct horse battery')
  const wave = Array.from({ length: 70 }, () =>
    passwords.verify('wrong', hashed).then(
      () => 'looked at',
      (error: unknown) => error,
    ),
  )
  const outcomes = await Promise.all(wave)
  t.equal(outcomes.filter((outcome) => outcome === 'looked at').length, 66, 'two at work and 64 waiting')
  for (const refused of outcomes.slice(66)) t.match(refused, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 2 })
  t.equal(await passwords.verify('correct horse battery', hashed), true)
})
