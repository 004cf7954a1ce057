import t from 'tap'
import { askPatiently } from '../src/ask-patiently.ts'

/** Answers in turn, the last one for ever. */
function answering(...answers: readonly (readonly [status: number, retryAfter?: string])[]) {
  const waits: number[] = []
  let asked = 0
  const ask = async () => {
    const [status, retryAfter] = answers[Math.min(asked, answers.length - 1)] ?? [500]
    asked += 1
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    return new Response('{}', { status, headers })
  }
  return {
    waits,
    asked: () => asked,
    ask: () => askPatiently(ask, async (ms) => void waits.push(Math.floor(ms / 1000))),
  }
}

t.test('a request is asked again when the answer says', async (t) => {
  const busy = answering([503, '2'], [429, '1'], [201])
  t.equal((await busy.ask()).status, 201)
  t.same(busy.waits, [2, 1])
})

t.test('an answer without a time is the answer', async (t) => {
  for (const answer of [[503], [504, '1'], [402], [200], [503, 'soon'], [429, '86400']] as const) {
    const server = answering(answer)
    t.equal((await server.ask()).status, answer[0])
    t.same(server.waits, [])
  }
})

t.test('it gives up on who never serves', async (t) => {
  const server = answering([503, '1'])
  t.equal((await server.ask()).status, 503)
  t.equal(server.asked(), 10)
})
