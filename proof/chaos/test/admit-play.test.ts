import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { admitPlay, admitsPlay } from '../src/admit-play.ts'
import { createVerdict } from '../src/check/verdict.ts'
import { send } from '../src/send.ts'

/** A product whose answers to stakes are these, one after the other, the last for ever. */
async function tenancyWith(teardown: (close: () => void) => void, statuses: readonly number[]) {
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url === '/sessions') {
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ launch_url: 'http://127.0.0.1/play/#token=one' }))
      return
    }
    const status = statuses[Math.min(asked, statuses.length - 1)] ?? 0
    asked += 1
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(status === 201 ? {} : { code: 'SERVICE_UNAVAILABLE' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const call = (method: string, path: string, body?: unknown) => send(method, base + path, { body })
  return { name: 'test' as const, operator: { base, token: '', call, all: () => Promise.resolve([]) } }
}

t.test('play that is refused for ever after the faults breaks an invariant', async (t) => {
  const verdict = createVerdict()
  const refusing = await tenancyWith((close) => t.teardown(close), [503])
  await admitPlay([refusing], { withinMs: 1, verdict })
  t.match(verdict.invariants(), [
    { name: admitsPlay, checked: 1, violations: ['test: 503 {"code":"SERVICE_UNAVAILABLE"}'] },
  ])
})

t.test('play that is admitted a moment later holds it', async (t) => {
  const verdict = createVerdict()
  const yielding = await tenancyWith((close) => t.teardown(close), [503, 201])
  await admitPlay([yielding], { withinMs: 60_000, verdict })
  t.match(verdict.invariants(), [{ name: admitsPlay, checked: 1, violations: [] }])
})
