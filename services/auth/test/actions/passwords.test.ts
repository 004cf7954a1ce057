import t from 'tap'
import { createFairGate, type Lane } from '../../src/actions/fair-gate.ts'
import { createPasswords } from '../../src/actions/passwords.ts'

const lane = { signIn: 'ada@casino.example' }

t.test('a password is stored as argon2id and matches no other', async (t) => {
  const passwords = await createPasswords()
  const hashed = await passwords.hash('correct horse battery', lane)
  t.match(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(hashed, await passwords.hash('correct horse battery', lane), 'each hash has its own salt')
  t.equal(await passwords.verify('correct horse battery', hashed, lane), true)
  t.equal(await passwords.verify('correct horse batter', hashed, lane), false)
  t.equal(await passwords.verify('correct horse battery', null, lane), false, 'an unknown person has none')
})

/** Works that end when the test says so, in the order in which they began. */
function works() {
  const gate = createFairGate(2)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, of: Lane) =>
    gate(of, () => {
      started.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    }).catch((error: unknown) => error)
  /** Ends a work and waits until the next has begun. */
  const end = async (name: string, work: Promise<unknown> | undefined) => {
    ends.get(name)?.()
    await work
  }
  return { run, end, started }
}

t.test('the tries of one account take one place, and a sign-in goes before all of them', async (t) => {
  const { run, end, started } = works()
  const [a1, a2, a3, a4] = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name, { account: 'a' }))
  t.strictSame(started, ['a1'], 'one at a time')
  t.match(await run('a5', { account: 'a' }), { code: 'SERVICE_UNAVAILABLE', retryAfterS: 2 })
  const b1 = run('b1', { account: 'b' })
  t.strictSame(started, ['a1', 'b1'], 'another account has a place')
  void run('c1', { account: 'c' })
  void run('in', { signIn: 'ada@casino.example' })
  await end('a1', a1)
  t.strictSame(started.slice(2), ['in'])
  await end('b1', b1)
  t.strictSame(started.slice(3), ['a2'], 'accounts take turns')
  await end('a2', a2)
  t.strictSame(started.slice(4), ['c1'], 'an account with more works waits for the others')
  await end('c1', Promise.resolve())
  await end('in', Promise.resolve())
  t.ok([a3, a4])
})

t.test('guesses at one address delay no sign-in with another, and are bounded', async (t) => {
  const { run, end, started } = works()
  const guesses = Array.from({ length: 20 }, (_, index) => run(`guess${index}`, { signIn: 'a@x.example' }))
  const refused = await Promise.all(guesses.slice(17))
  for (const refusal of refused) t.match(refusal, { code: 'SERVICE_UNAVAILABLE' })
  const first = run('first', { signIn: 'b@x.example' })
  t.strictSame(started, ['guess0', 'first'])
  void run('second', { signIn: 'c@x.example' })
  await end('first', first)
  t.strictSame(started.slice(2), ['second'], 'the place that is free goes to the address that had none')
})
