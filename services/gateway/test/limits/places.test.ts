import { once } from 'node:events'
import { connect } from 'node:net'
import { ServiceError } from '@pitboss/errors/service-error'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { claimsFor, signToken } from '@pitboss/testing/sign-token'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const session = { player_id: 'p', game: 'dice', currency: 'EUR' }
const win = { type: 'WIN', transaction_id: 'w', round_id: ids.round, amount: '1.00', currency: 'EUR' }
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

/** Lets calls of `subject` hang until `release`; those that are not to be waited for are answered at once. */
function hold(world: World, subject: string) {
  const held: (() => void)[] = []
  const counted = { hanging: 0, atOnce: 0 }
  world.answers.set(subject, async (_request, { atOnce }) => {
    const resource = { round_id: ids.round, transaction_id: 'w' }
    if (atOnce === true) counted.atOnce += 1
    else {
      counted.hanging += 1
      await new Promise<void>((resolve) => held.push(resolve))
    }
    throw new ServiceError('WALLET_TIMEOUT', { resource })
  })
  const release = () => {
    for (const resolve of held) resolve()
  }
  return { counted, release }
}

// A tenth of the places and of the thresholds, so that a slow machine can hold as many as it takes.
await t.test('210 repeats of one win, whose wallet hangs, stop nobody else', async (t) => {
  const world = await startWorld(t, {
    PITBOSS_LIMIT_ACCOUNT_PLACES: '20',
    PITBOSS_SHED_READ_IN_FLIGHT: '100',
    PITBOSS_SHED_STAKE_IN_FLIGHT: '200',
  })
  world.directory.operators.add(ids.otherOperator)
  const token = await world.operatorToken()
  const stranger = await signToken(world.key, claimsFor('operator-api', ids.testKey, ids.otherOperator))
  const { counted, release } = hold(world, 'rounds.v1.transaction.place')
  const post = (path: string, body: object, by: string) =>
    ask(world.url + path, { method: 'POST', token: by, body })
  const repeats = Array.from({ length: 210 }, () => post('/v1/transactions', win, token))
  await waitFor(() => counted.hanging + counted.atOnce === 210)
  t.same(counted, { hanging: 20, atOnce: 190 })

  const beside = await Promise.all([
    ask(`${world.url}/v1/games`, { token: stranger }),
    post('/v1/sessions', session, stranger),
    post('/v1/transactions', { ...win, transaction_id: 'w-2' }, token),
    ask(`${world.url}/v1/games`, { token }),
    post('/v1/sessions', session, token),
  ])
  t.same(
    beside.map(({ status }) => status),
    [200, 201, 504, 503, 503],
  )
  t.match(beside[3], { code: 'SERVICE_UNAVAILABLE' })
  release()
  const answers = await Promise.all(repeats)
  t.same([...new Set(answers.map(({ code }) => code))], ['WALLET_TIMEOUT'])
  t.match(answers[209]?.json, { resource: { transaction_id: 'w' }, retryable: true })
  t.equal((await ask(`${world.url}/v1/games`, { token })).status, 200, 'the places are free again')
})

await t.test('300 requests of one account, all refused, cost another no answer and no row', async (t) => {
  const world = await startWorld(t)
  const refusedKey = 'ck_test_refused00000000000000000'
  world.directory.credentials.set(refusedKey, newCredential({ scopes: ['games:read'] }))
  world.directory.operators.add(ids.otherOperator)
  const token = await world.operatorToken({}, refusedKey)
  const stranger = await signToken(world.key, claimsFor('operator-api', ids.testKey, ids.otherOperator))
  const refused = Array.from({ length: 300 }, () =>
    ask(`${world.url}/v1/sessions`, { method: 'POST', token, body: session }),
  )
  const beside = []
  for (let count = 0; count < 50; count++) {
    beside.push(await ask(`${world.url}/v1/games`, { token: stranger }))
  }
  t.strictSame([...new Set(beside.map(({ status }) => status))], [200])
  t.strictSame([...new Set((await Promise.all(refused)).map(({ code }) => code))], ['INSUFFICIENT_SCOPE'])
  const rowsOf = (operatorId: string) =>
    world.directory.logRows.filter((row) => row.operatorId === operatorId).length
  await waitFor(() => rowsOf(ids.otherOperator) === 50)
  t.ok(rowsOf(ids.operator) <= 30, 'of the refused ones a few are kept')
})

await t.test('players of one address have places of their own, and settle beyond them', async (t) => {
  const world = await startWorld(t, {
    PITBOSS_LIMIT_ADDRESS_PLACES: '3',
    PITBOSS_TRUSTED_PROXIES: '127.0.0.1',
  })
  const token = await world.playerToken()
  const { counted, release } = hold(world, 'rounds.v1.player.session')
  hold(world, 'rounds.v1.player.cashout')
  const stuck = [1, 2, 3].map(() => ask(`${world.url}/v1/game/session`, { token, ...from('192.0.2.1') }))
  await waitFor(() => counted.hanging === 3)
  const read = (address: string) => ask(`${world.url}/v1/game/rounds`, { token, ...from(address) })
  t.match(await read('192.0.2.1'), { status: 503, code: 'SERVICE_UNAVAILABLE' })
  t.equal((await read('192.0.2.2')).status, 200)
  const cashout = `${world.url}/v1/game/rounds/${ids.round}/cashout`
  t.match(await ask(cashout, { method: 'POST', token, ...from('192.0.2.1') }), { code: 'WALLET_TIMEOUT' })
  release()
  await Promise.all(stuck)
})

await t.test(
  'routes that work without a token are limited by address, probes and files are not',
  async (t) => {
    const env = { PITBOSS_LIMIT_ADDRESS_BURST: '5', PITBOSS_TRUSTED_PROXIES: '127.0.0.1' }
    const world = await startWorld(t, env, { isLimitClockStanding: true })
    const codes = async (count: number, address: string, path: string, method = 'GET') => {
      const answers = []
      for (let times = 0; times < count; times++) {
        answers.push(await ask(world.url + path, { method, ...from(address) }))
      }
      return answers.map(({ code }) => code)
    }
    const limited = [
      ['GET', '/v1/public/jwks.json'],
      ['GET', '/v1/public/event-types'],
      ['GET', '/v1/public/openapi.json'],
      ['POST', '/v1/public/verify'],
      ['POST', '/v1/dashboard/refresh'],
      ['POST', '/v1/dashboard/logout'],
      ['POST', '/v1/dashboard/invitations/accept'],
    ] as const
    for (const [index, [method, path]] of limited.entries()) {
      const seen = await codes(30, `2001:db8:${index}::1`, path, method)
      t.equal(seen.indexOf('RATE_LIMITED'), 5, path)
      t.equal(seen.filter((code) => code === 'RATE_LIMITED').length, 25, path)
      const [neighbour] = await codes(1, `2001:db8:${index}::2`, path, method)
      t.equal(neighbour, 'RATE_LIMITED', 'the /64 counts as one')
    }
    for (const path of ['/healthz', '/readyz', '/v1/public/docs', '/play/dice', '/v1/public/verify']) {
      t.notOk((await codes(30, '192.0.2.1', path)).includes('RATE_LIMITED'), path)
    }
  },
)

await t.test(
  'a callback counts toward its operator when it is signed, else toward its address',
  async (t) => {
    const env = {
      PITBOSS_LIMIT_ADDRESS_BURST: '5',
      PITBOSS_LIMIT_CALLBACK_PER_S: '20',
      PITBOSS_TRUSTED_PROXIES: '127.0.0.1',
    }
    const world = await startWorld(t, env, { isLimitClockStanding: true })
    const call = (signature: string, address: string) =>
      ask(`${world.url}/v1/public/wallet-callbacks/op_${ids.operator.replaceAll('-', '')}/TEST`, {
        method: 'POST',
        raw: '{ "transactionId":"a",  "status":"SUCCESS"}',
        headers: { ...from(address).headers, 'x-signature': signature, 'x-timestamp': '1' },
      })
    const many = (count: number, signature: string, address: string) =>
      Promise.all(Array.from({ length: count }, async () => (await call(signature, address)).code))
    const bad: (string | null)[] = []
    for (let times = 0; times < 30; times++) bad.push((await call('bad', '192.0.2.1')).code)
    t.same(bad, [...Array(5).fill('INVALID_SIGNATURE'), ...Array(25).fill('RATE_LIMITED')])
    t.same(await many(10, 'good', '192.0.2.2'), Array(10).fill(null), 'more than the address may')
    const seen: (string | null)[] = []
    await waitFor(async () => {
      seen.push(...(await many(20, 'good', `192.0.2.${3 + seen.length}`)))
      return seen.includes('RATE_LIMITED')
    })
  },
)

await t.test('an address has so many connections, and a proxy as many as it needs', async (t) => {
  const world = await startWorld(t, { PITBOSS_LIMIT_ADDRESS_CONNECTIONS: '5' })
  const open = async (url: string, localAddress: string) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [null])])
    return { socket, isServed: first !== null }
  }
  const opened = []
  for (let count = 0; count < 7; count++) opened.push(await open(world.url, '127.0.0.2'))
  const served = opened.map(({ isServed }) => isServed)
  t.same(served, [true, true, true, true, true, false, false])
  t.ok((await open(world.url, '127.0.0.3')).isServed)
  opened[0]?.socket.destroy()
  await waitFor(async () => (await open(world.url, '127.0.0.2')).isServed)
  const trusting = await world.addGateway({ PITBOSS_TRUSTED_PROXIES: '127.0.0.2' })
  for (let count = 0; count < 7; count++) t.ok((await open(trusting.url, '127.0.0.2')).isServed)
})
