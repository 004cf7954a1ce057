import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { gatherWrites } from '../src/gather-writes.ts'

t.test('what is written in several steps of a turn is sent together, in order', async (t) => {
  const { write } = gatherWrites()
  const sent: number[] = []
  const written = write(() => void sent.push(1))
  await Promise.resolve()
  void write(() => void sent.push(2))
  t.same(sent, [], 'nothing is sent before the turn ends')
  await written
  t.same(sent, [1, 2])
})

t.test('what is written while others are sent goes at the end of the next turn', async (t) => {
  const { write } = gatherWrites()
  const sent: number[] = []
  await write(() => {
    sent.push(1)
    void write(() => void sent.push(2))
  })
  t.same(sent, [1])
  await endOfTurn()
  await endOfTurn()
  t.same(sent, [1, 2])
})

t.test('a send that throws rejects its own write alone', async (t) => {
  const { write } = gatherWrites()
  const failed = write(() => {
    throw new Error('closed')
  })
  const sent = write(() => undefined)
  await t.rejects(failed, { message: 'closed' })
  await t.resolves(sent)
})

t.test('a flush sends at once, and each write once', async (t) => {
  const { write, flush } = gatherWrites()
  let sent = 0
  const written = write(() => void (sent += 1))
  flush()
  t.equal(sent, 1)
  await written
  await endOfTurn()
  t.equal(sent, 1)
})
