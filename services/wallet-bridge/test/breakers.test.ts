import t from 'tap'
import { type BreakerNote, type Breakers, createBreakers } from '../src/clients/breakers.ts'

const wallet = 'acme/SANDBOX'

/** Breakers of several processes that notify each other at once, on one clock. */
function processes(names: readonly string[]) {
  let nowMs = 0
  const said: string[] = []
  const all = new Map<string, Breakers>()
  for (const name of names) {
    const notify = (note: BreakerNote) => {
      for (const [other, breakers] of all) if (other !== name) breakers.receive(note)
    }
    const breakers = createBreakers({
      scaleMs: (ms) => ms,
      nowMs: () => nowMs,
      notify,
      onOpened: () => said.push(`${name} opened`),
      onClosed: () => said.push(`${name} closed`),
    })
    all.set(name, breakers)
  }
  const of = (name: string): Breakers => {
    const found = all.get(name)
    if (found === undefined) throw new Error(`there is no process ${name}`)
    return found
  }
  return {
    of,
    said,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

await t.test(
  'ten unknown outcomes in a row open the breaker of every process, from calls of any of them',
  async (t) => {
    const { of, said } = processes(['a', 'b'])
    for (let call = 0; call < 9; call++) of(call % 2 === 0 ? 'a' : 'b').record(wallet, false)
    t.ok(of('a').admit(wallet) && of('b').admit(wallet), 'nine do not')
    of('b').record(wallet, false)
    t.notOk(of('a').admit(wallet) || of('b').admit(wallet))
    t.same(said.toSorted(), ['a opened', 'b opened'])
    t.same([of('a').open(), of('b').open()], [[wallet], [wallet]])
    t.ok(of('a').admit('other/SANDBOX'), "another's wallet is none of it")
  },
)

await t.test('an answer to one process ends the row of unknown outcomes of the other', async (t) => {
  const { of } = processes(['a', 'b'])
  for (let call = 0; call < 9; call++) of('a').record(wallet, false)
  of('b').record(wallet, true)
  of('a').record(wallet, false)
  t.ok(of('a').admit(wallet))
})

await t.test(
  'all processes send one probe every 5 s; its answer closes every breaker, and each process goes on',
  async (t) => {
    const { of, said, pass } = processes(['a', 'b'])
    for (let call = 0; call < 10; call++) of('a').record(wallet, false)
    pass(5000)
    t.same([of('b').admit(wallet), of('a').admit(wallet), of('b').admit(wallet)], [true, false, false])
    of('b').record(wallet, false)
    pass(5000)
    t.same([of('a').admit(wallet), of('b').admit(wallet)], [true, false])
    of('a').record(wallet, true)
    t.ok(of('a').admit(wallet) && of('b').admit(wallet))
    t.same(said.filter((line) => line.endsWith('closed')).toSorted(), ['a closed', 'b closed'])
  },
)
