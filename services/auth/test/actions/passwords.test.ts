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
  /** All that have begun, once everything that can begin has. */
  const begun = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return started
  }
  const end = (name: string) => ends.get(name)?.()
  return { run, end, begun }
}

t.test('the tries of one account take one place, and a sign-in goes before all of them', async (t) => {
  const { run, end, begun } = works()
  for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { account: 'a' })
  t.strictSame(await begun(), ['a1'], 'one at a time')
  t.match(await run('a5', { account: 'a' }), { code: 'SERVICE_UNAVAILABLE', retryAfterS: 2 })
  void run('b1', { account: 'b' })
  t.strictSame(await begun(), ['a1', 'b1'], 'another account has a place')
  void run('c1', { account: 'c' })
  void run('in', { signIn: 'ada@casino.example' })
  end('a1')
  t.strictSame((await begun()).slice(2), ['in'])
  end('b1')
  t.strictSame((await begun()).slice(3), ['a2'], 'accounts take turns')
  end('a2')
  t.strictSame((await begun()).slice(4), ['c1'], 'an account with more works waits for the others')
  end('in')
  t.strictSame((await begun()).slice(5), ['a3'])
})

t.test('guesses at one address delay no sign-in with another, and are bounded', async (t) => {
  const { run, end, begun } = works()
  const guesses = Array.from({ length: 20 }, (_, index) => run(`guess${index}`, { signIn: 'a@x.example' }))
  const refused = await Promise.all(guesses.slice(17))
  for (const refusal of refused) t.match(refusal, { code: 'SERVICE_UNAVAILABLE' })
  void run('first', { signIn: 'b@x.example' })
  t.strictSame(await begun(), ['guess0', 'first'])
  void run('second', { signIn: 'c@x.example' })
  end('first')
  t.strictSame((await begun()).slice(2), ['second'], 'the free place goes to the address that had none')
})
