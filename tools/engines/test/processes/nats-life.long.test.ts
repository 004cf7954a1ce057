import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { connect, nkeyAuthenticator } from 'nats'
import t from 'tap'
import { startNats } from '../../src/start-nats.ts'
import { processesOf } from '../fixtures/processes-of.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

const accounts = [
  {
    name: 'PITBOSS',
    users: [
      { name: 'ops' },
      { name: 'auth', permissions: { publish: { allow: ['auth.>'] }, subscribe: { allow: ['_INBOX.>'] } } },
    ],
  },
  { name: 'TEST', users: [{ name: 'test', password: 't' }] },
]

function login(url: string, seed: string | undefined) {
  return connect({
    servers: url,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 20,
  })
}

await t.test('users log in with the keys of their data folder and may do what they were given', async (t) => {
  const engine = await startNats({ dataDir: temporaryFolder(t), accounts })
  t.teardown(engine.stop)
  t.strictSame(Object.keys(engine.seeds), ['ops', 'auth'])
  const nc = await login(engine.url, engine.seeds.auth)
  t.teardown(() => nc.close())
  const refused = (async () => {
    for await (const status of nc.status()) if (status.type === 'error') return status.error.message
    return null
  })()
  nc.publish('rounds.x')
  t.match(await refused, /rounds\.x/)
  await t.rejects(connect({ servers: engine.url, maxReconnectAttempts: 0 }), /Authorization/i)
})

await t.test(
  'what was acknowledged outlives a kill; the server is back on its port, and a restart keeps keys and data',
  async (t) => {
    const dataDir = temporaryFolder(t)
    const engine = await startNats({ dataDir, accounts })
    const nc = await login(engine.url, engine.seeds.ops)
    const manager = await jetstreamManager(nc)
    await manager.streams.add({ name: 'S', subjects: ['s.>'] })
    const { seq } = await jetstream(nc).publish('s.a', 'kept')
    const killed = engine.pid()
    if (killed === null) throw new Error('the server is not ours')
    process.kill(killed, 'SIGKILL')
    await waitFor(() => engine.pid() !== killed, { what: 'the restart' })
    const message = await waitFor(() => manager.streams.getMessage('S', { seq }), {
      what: 'the message',
    })
    t.equal(message.string(), 'kept')
    await nc.close()
    await Promise.all([engine.stop(), engine.stop()])
    t.strictSame(processesOf(dataDir), [])
    t.notOk(existsSync(join(dataDir, 'nats/lock')))

    const again = await startNats({ dataDir, accounts })
    t.teardown(again.stop)
    t.strictSame(again.seeds, engine.seeds)
    t.equal(statSync(join(dataDir, 'nats/nats.conf')).mode & 0o777, 0o600)
    const later = await login(again.url, again.seeds.ops)
    t.teardown(() => later.close())
    t.equal((await (await jetstreamManager(later)).streams.getMessage('S', { seq }))?.string(), 'kept')
  },
)

await t.test('a server that cannot start says why, in its own words, and leaves nothing', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startNats({ dataDir, accounts })
  await first.stop()
  const bad = [{ name: 'A', users: [{ name: 'a', publicKey: 'UNOKEY' }] }]
  await t.rejects(startNats({ dataDir, accounts: bad }), {
    name: 'EngineError',
    message: /nats-server did not start: .*nats\.log/,
  })
  t.strictSame(processesOf(dataDir), [])
})
