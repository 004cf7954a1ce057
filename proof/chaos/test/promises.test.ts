import { sharedStack } from '@pitboss/testing/shared-stack'
import t from 'tap'
import { playExchanges } from '../src/exchanges/play-exchanges.ts'
import { readRecordings } from '../src/exchanges/recording.ts'
import { missedIn, shapeOf } from '../src/exchanges/shape.ts'

t.test('what clients would miss is found, and what is added is not', (t) => {
  const recorded = shapeOf({ id: 'a', at: null, list: [{ amount: '1.00' }], inner: { flag: true } })
  const same = {
    id: 'b',
    at: 'now',
    more: 1,
    list: [{ amount: '2.00', more: 1 }],
    inner: { flag: false, more: 1 },
  }
  t.strictSame(missedIn(recorded, shapeOf(same)), [])
  const { id: _, ...without } = same
  t.strictSame(missedIn(recorded, shapeOf(without)), ['id is gone'])
  t.strictSame(missedIn(recorded, shapeOf({ ...same, id: 1 })), ['id was string and is number'])
  t.strictSame(missedIn(recorded, shapeOf({ ...same, list: [{}] })), ['list[].amount is gone'])
  t.strictSame(missedIn(recorded, shapeOf({ ...same, list: [] })), ['list has no item any more'])
  t.strictSame(missedIn(recorded, shapeOf({ ...same, inner: 'x' })), ['inner was an object and is string'])
  t.end()
})

t.test('every earlier build was answered nothing that this build does not answer', async (t) => {
  const recordings = readRecordings()
  t.ok(recordings.size > 0)
  const stack = await sharedStack(t)
  const today = new Map((await playExchanges(stack.demo())).map((one) => [one.name, one]))
  for (const [build, { exchanges }] of recordings) {
    for (const { name, request, body, status, refusal, answer } of exchanges) {
      const now = today.get(name)
      const title = `${build}: ${name}, ${request}`
      t.strictSame([now?.request, now?.body], [request, body], `${title}: asked the same`)
      t.strictSame([now?.status, now?.refusal], [status, refusal], `${title}: answered alike`)
      t.strictSame(missedIn(answer, now?.answer ?? 'nothing'), [], `${title}: nothing is missed`)
    }
  }
})
