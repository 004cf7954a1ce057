import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startNats } from '@pitboss/engines/start-nats'
import { ServiceError } from '@pitboss/errors/service-error'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import type { NatsUser } from '@pitboss/stack/nats/permissions'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { isOutcomeUnknown } from '../src/call-failure.ts'
import { connectBus } from '../src/connect-bus.ts'
import { handler, serveCalls } from '../src/serve-calls.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'
import { slowCall } from './fixtures/slow-call.ts'

const program = fileURLToPath(new URL('fixtures/slow-service.ts', import.meta.url))
const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-lost-callee-'))
// A server of one's own would not have these users.
const { NATS_URL: _, ...env } = process.env
const nats = await startNats({ dataDir, env, accounts: natsAccounts })
const { logger } = memoryLogger()
const connectAs = (user: NatsUser) =>
  connectBus({ url: nats.url, nkeySeed: nats.seeds[user], service: user, logger })
const gateway = await connectAs('gateway')
t.teardown(async () => {
  await gateway.close()
  await nats.stop()
  await rm(dataDir, { recursive: true, force: true })
})

type Replica = { readonly child: ChildProcess; readonly pid: number; taken(): number }

async function startReplica(t: Tap): Promise<Replica> {
  const child = spawn(process.execPath, [program], {
    env: { NATS_URL: nats.url, NATS_NKEY_SEED: nats.seeds.rounds },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let [taken, isReady] = [0, false]
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'taken') taken += 1
    else isReady = true
  })
  await waitFor(() => isReady, { what: 'the replica serves' })
  return { child, pid: child.pid ?? 0, taken: () => taken }
}
type Tap = { teardown(fn: () => unknown): void }

await t.test(
  'callers learn that their callee was killed, and of no other call that it is lost',
  async (t) => {
    const [first, second] = [await startReplica(t), await startReplica(t)]
    const calls: Promise<unknown>[] = []
    await waitFor(
      () => {
        if (first.taken() + second.taken() === calls.length)
          calls.push(gateway.call(slowCall, {}).catch((error: unknown) => error))
        return first.taken() > 0 && second.taken() > 0
      },
      { what: 'each replica has a call' },
    )
    await waitFor(() => first.taken() + second.taken() === calls.length, { what: 'all calls are taken' })
    const ofFirst = first.taken()
    first.child.kill('SIGKILL')
    const ended: unknown[] = []
    for (const call of calls) void call.then((answer) => ended.push(answer))
    await waitFor(() => ended.length === ofFirst, { what: 'the calls of the killed replica end' })
    for (const error of ended) {
      t.match(error, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 1, cause: 'lost' })
      t.ok(isOutcomeUnknown(error), 'it may have done something')
    }
    second.child.stdin?.write('answer\n')
    const answers = await Promise.all(calls)
    const served = answers.filter((answer) => !(answer instanceof ServiceError))
    t.strictSame(
      served,
      Array.from({ length: second.taken() }, () => ({ by: second.pid })),
    )
  },
)

await t.test('a call is lost when no replica is left', async (t) => {
  const only = await startReplica(t)
  const call = gateway.call(slowCall, {}).catch((error: unknown) => error)
  await waitFor(() => only.taken() === 1, { what: 'the call is taken' })
  only.child.kill('SIGKILL')
  t.match(await call, { code: 'SERVICE_UNAVAILABLE', cause: 'lost' })
})

for (const how of ['says nothing', 'does not say what it works on'] as const) {
  await t.test(`a call is not lost while a replica ${how}`, async (t) => {
    const [server, other] = [await connectAs('rounds'), await connectAs('rounds')]
    t.teardown(() => Promise.all([server.close(), other.close()]))
    const release = Promise.withResolvers<void>()
    server.nc.subscribe(slowCall.subject, {
      queue: 'rounds',
      callback: (_err, message) =>
        void release.promise.then(() => message.respond(JSON.stringify({ by: 1 }))),
    })
    let asked = 0
    server.nc.subscribe('$SRV.PING.rounds', {
      callback: (_err, message) => {
        asked += 1
        const answer = { metadata: { pid: '1' } }
        if (how !== 'says nothing') message.respond(JSON.stringify(answer))
      },
    })
    // Another one, which has been asked for nothing, says so.
    if (how !== 'says nothing') {
      const idle = handler({ ...slowCall, subject: 'rounds.v1.round.list' }, async () => ({ by: 2 }))
      await serveCalls({ bus: other, service: 'rounds', version: '1', logger, handlers: [idle] })
    }
    await server.nc.flush()
    const call = gateway.call(slowCall, {})
    await waitFor(() => asked > 3, { what: 'it is asked for often' })
    release.resolve()
    t.strictSame(await call, { by: 1 })
  })
}
