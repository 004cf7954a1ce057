import { connect, nkeyAuthenticator } from 'nats'
import t from 'tap'
import { exchangeUserKeys } from '../../src/nats/exchange-user-keys.ts'
import { startNats } from '../../src/start-nats.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

const permissions = {
  publish: { allow: ['auth.>', '_INBOX.>'] },
  subscribe: { allow: ['auth.>', '_INBOX.>'] },
}
const accounts = [
  { name: 'PITBOSS', users: [{ name: 'ops' }] },
  { name: 'AUTH', jetstream: false, users: [{ name: 'auth', permissions }] },
  { name: 'TEST', jetstream: false, users: [{ name: 'test', password: 't' }] },
]

await t.test('keys are exchanged while connections go on, and then the former ones end', async (t) => {
  const dataDir = temporaryFolder(t)
  // A server of one's own would not have these users.
  const { NATS_URL: _, ...env } = process.env
  const engine = await startNats({ dataDir, accounts, env })
  t.teardown(engine.stop)
  const login = (seed: string | undefined) =>
    connect({
      servers: engine.url,
      authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
      maxReconnectAttempts: 0,
    })
  const old = await login(engine.seeds.auth)
  old.subscribe('auth.echo', { callback: (_err, message) => void message.respond('good') })
  await old.flush()

  const exchanged = await exchangeUserKeys(dataDir)
  t.strictSame(exchanged.former, engine.seeds)
  const next = await login(exchanged.seeds.auth)
  t.teardown(() => next.close())
  t.equal((await next.request('auth.echo')).string(), 'good', 'both keys are of one account')
  t.equal(old.isClosed(), false)

  const ended = old.closed()
  await exchanged.dropFormer()
  await ended
  await t.rejects(login(exchanged.former.auth), /authorization/i)
  next.subscribe('auth.echo', { callback: (_err, message) => void message.respond('still good') })
  t.equal((await next.request('auth.echo')).string(), 'still good')
  await (await connect({ servers: engine.url, user: 'test', pass: 't' })).close()
  await engine.stop()

  const again = await startNats({ dataDir, accounts, env })
  t.teardown(again.stop)
  t.strictSame(again.seeds, exchanged.seeds, 'a restart keeps the new ones')
})
