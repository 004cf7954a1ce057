import { randomUUID } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { mock } from 'node:test'
import type { TokenClaims } from '@pitboss/contracts/token-claims'
import { sampleAccount } from '@pitboss/testing/sample-account'
import { pino } from 'pino'
import t from 'tap'
import { createTails } from '../../src/answers/tails.ts'
import { routeTable } from '../../src/routes/route-table.ts'

const many = 100
const secondMs = 1000
const stepMs = 10

t.test('every tail is judged once a second, and never many at a time', (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const judged: string[] = []
  const tails = createTails({
    bus: { publish: () => undefined, subscribe: () => ({ unsubscribe: () => undefined }) },
    access: {
      verify(token) {
        judged.push(token)
        return new Promise<TokenClaims>(() => undefined)
      },
      principalOf: () => Promise.reject(new Error('nobody is verified')),
      alive: () => true,
      heard: () => true,
      stop: () => Promise.resolve(),
    },
    gauge: { sheds: () => false },
    limits: { person: many, account: many, all: many },
    logger: pino({ level: 'silent' }),
  })
  t.teardown(() => tails.stop())
  const entry = routeTable.find(({ path }) => path === '/v1/dashboard/stream')
  if (entry === undefined) throw new Error('there is no route of the stream')
  const tokens = Array.from({ length: many }, (_, at) => `token-${at}`)
  const opened = tokens.map((token) => {
    const raw = new IncomingMessage(new Socket())
    raw.headersDistinct.authorization = [`Bearer ${token}`]
    const operatorId = randomUUID()
    return tails.open({
      entry,
      raw,
      identity: {
        audience: 'dashboard',
        operatorId,
        mode: 'TEST',
        account: sampleAccount(operatorId),
        actor: { kind: 'session', session_id: token },
        token,
      },
      clientAddress: '203.0.113.9',
      environment: 'SANDBOX',
      kinds: new Set(['events']),
      permit: () => undefined,
      matches: () => true,
    })
  })
  t.equal(tails.count(), many)

  function second(): number {
    judged.length = 0
    let most = 0
    for (let elapsedMs = 0; elapsedMs < secondMs; elapsedMs += stepMs) {
      const before = judged.length
      mock.timers.tick(stepMs)
      most = Math.max(most, judged.length - before)
    }
    return most
  }
  t.ok(second() <= many / 10, 'a turn is of few')
  t.strictSame(judged.toSorted(), tokens.toSorted(), 'each was judged, and once')

  for (const readable of opened.slice(1)) readable.destroy()
  setImmediate(() => {
    second()
    t.strictSame(judged, tokens.slice(0, 1), 'a tail that has ended is not judged')
    t.end()
  })
})
