import t from 'tap'
import { exploreSchedules, type Run, type Stage } from '../src/explore-schedules.ts'

/** Processes that raise one number: in one step, or by reading it and writing what they read plus one. */
function raise(stage: Stage, processes: readonly string[], atomic: boolean, more: Partial<Run> = {}): Run {
  let count = 0
  let done = 0
  const work = async (name: string) => {
    if (atomic) await stage.step(name, 'raise', { done: () => (count += 1) })
    else {
      const read = await stage.step(name, 'read', { done: () => count })
      await stage.step(name, 'write', { done: () => (count = read + 1) })
    }
    done += 1
  }
  for (const name of processes) void work(name)
  return {
    stateOf: () => String(count),
    broken: () => null,
    brokenAtEnd: async () => (done === count ? null : `${done} raised it, it is ${count}`),
    ...more,
  }
}

t.test('an order in which a write is lost is found', async (t) => {
  const { violation } = await exploreSchedules({
    begin: (stage) => raise(stage, ['a', 'b'], false),
    statesMax: 1000,
  })
  t.equal(violation?.invariant, '2 raised it, it is 1')
  t.equal(violation?.trace.length, 4)
  t.strictSame(violation?.trace.slice(0, 2).toSorted(), ['a: read', 'b: read'], 'both read first')
})

t.test('every order is tried, and equal states are one', async (t) => {
  const orders = new Set<string>()
  const begin = (stage: Stage): Run => {
    let order = ''
    const work = async (name: string) => {
      await stage.step(name, 'first', { done: () => void (order += name) })
      await stage.step(name, 'second', { done: () => void (order += name) })
    }
    for (const name of ['a', 'b', 'c']) void work(name)
    return {
      stateOf: () => order,
      broken: () => null,
      async brokenAtEnd() {
        orders.add(order)
        return null
      },
    }
  }
  const { ends } = await exploreSchedules({ begin, statesMax: 1000 })
  t.equal(orders.size, 90, '6! / (2! 2! 2!)')
  t.equal(ends, 90)

  const { states, violation } = await exploreSchedules({
    begin: (stage) => raise(stage, ['a', 'b', 'c'], true),
    statesMax: 1000,
  })
  t.equal(violation, null)
  t.ok(states <= 16, 'which of them raised it to what is all that differs')
})

t.test('every effect of a step is tried, deaths too, and the state is looked at after each', async (t) => {
  const seen = new Set<string>()
  const begin = (stage: Stage): Run => {
    let told = 'nothing'
    let after = 'nothing'
    const work = async () => {
      const mayDie = () => told === 'nothing'
      told = await stage.step('a', 'ask', { yes: () => 'yes', no: () => 'no' }, { mayDie })
      after = await stage.step('a', 'say', { done: () => told }, { mayDie })
    }
    void work()
    return {
      stateOf: () => `${told} ${after}`,
      broken: () => (after === 'no' ? 'it is never a no' : null),
      async brokenAtEnd() {
        seen.add(`${told} ${after}`)
        return null
      },
    }
  }
  const { violation } = await exploreSchedules({ begin, statesMax: 100 })
  t.strictSame(violation, { invariant: 'it is never a no', trace: ['a: ask (no)', 'a: say'] })
  t.ok(seen.has('nothing nothing'), 'the one that died')
})

t.test('a step that must wait goes when it may; one that never may is left', async (t) => {
  const begin = (stage: Stage): Run => {
    let opened = false
    let passed = false
    let closed = false
    void stage.step('door', 'open', { done: () => (opened = true) })
    void stage.step('guest', 'pass', { done: () => (passed = true) }, { mayGo: () => opened })
    void stage.step('ghost', 'pass', { done: () => (passed = false) }, { mayGo: () => false })
    const patient = { mayGo: () => false, whenIdle: true }
    void stage.step('porter', 'close', { done: () => (closed = passed) }, patient)
    return {
      stateOf: () => `${opened} ${passed}`,
      broken: () => (passed && !opened ? 'nobody passes a closed door' : null),
      brokenAtEnd: async () => (closed ? null : 'the porter did not wait for the guest'),
    }
  }
  t.strictSame(await exploreSchedules({ begin, statesMax: 100 }), { states: 4, ends: 1, violation: null })
})
