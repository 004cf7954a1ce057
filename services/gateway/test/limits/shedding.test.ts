import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createLoadGauge } from '../../src/limits/load-gauge.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

await t.test('tails go first, then reads, then stakes, settlement never', (t) => {
  const gauge = createLoadGauge({
    readDelayMs: 60_000,
    stakeDelayMs: 60_000,
    readInFlightMax: 1,
    stakeInFlightMax: 2,
  })
  const shed = () => (['tail', 'read', 'stake', 'never'] as const).filter((one) => gauge.sheds(one))
  const leave = [gauge.enter()]
  t.same(shed(), ['tail'])
  leave.push(gauge.enter())
  t.same(shed(), ['tail', 'read'])
  leave.push(gauge.enter())
  t.same(shed(), ['tail', 'read', 'stake'])
  for (const one of leave) one()
  leave[0]?.()
  t.equal(gauge.inFlight(), 0)
  t.same(shed(), [])
  gauge.stop()
  t.end()
})

await t.test('a busy event loop counts as load until it is well again', async (t) => {
  const gauge = createLoadGauge({
    readDelayMs: 20,
    stakeDelayMs: 5000,
    readInFlightMax: 9,
    stakeInFlightMax: 9,
  })
  t.teardown(() => gauge.stop())
  t.teardown(gauge.enter())
  await waitFor(() => {
    const untilMs = performance.now() + 200
    while (performance.now() < untilMs) continue
    return gauge.sheds('read')
  })
  t.notOk(gauge.sheds('stake'))
  await waitFor(() => !gauge.sheds('read'))
})

await t.test('the routes that settle are never shed or limited', (t) => {
  const never = routeTable
    .filter(({ shed }) => shed === 'never')
    .map(({ method, path }) => `${method} ${path}`)
  t.same(never.toSorted(), [
    'GET /healthz',
    'GET /readyz',
    'POST /v1/game/rounds/{round_id}/cashout',
    'POST /v1/game/rounds/{round_id}/reveal',
    'POST /v1/rounds/{round_id}/void',
  ])
  t.ok(routeTable.filter(({ shed }) => shed === 'never').every(({ limit }) => limit === 'exempt'))
  t.end()
})

await t.test('services shed what the gateway sheds, and nothing else', (t) => {
  for (const { method, path, shed, limit, action } of routeTable) {
    if (action.kind !== 'forward') continue
    // A movement's type is in its body: the service, which has not read it yet, takes it for one that
    // settles.
    const mayShed = shed !== 'never' && limit !== 'body'
    t.equal(action.call.neverShed ?? false, !mayShed, `${method} ${path}`)
  }
  t.end()
})

await t.test('a saturated gateway still settles', async (t) => {
  const world = await startWorld(t, { PITBOSS_SHED_READ_IN_FLIGHT: '1', PITBOSS_SHED_STAKE_IN_FLIGHT: '1' })
  const [token, player] = [await world.operatorToken(), await world.playerToken()]
  const held: (() => void)[] = []
  world.directory.beforeResolve = () => new Promise<void>((resolve) => held.push(resolve))
  await ask(`${world.url}/healthz`)
  const waiting = await world.operatorToken({}, ids.liveKey)
  const stuck = [1, 2].map(() =>
    ask(`${world.url}/v1/rounds/${ids.round}/void`, { method: 'POST', token: waiting }),
  )
  await waitFor(() => held.length > 0)
  world.directory.beforeResolve = async () => undefined

  const post = (path: string, body: unknown, as = token) =>
    ask(world.url + path, { method: 'POST', token: as, body })
  const win = { type: 'WIN', transaction_id: 'w', round_id: ids.round, amount: '1.00', currency: 'EUR' }
  const bet = { type: 'BET', transaction_id: 'b', session_id: ids.session, amount: '1.00', currency: 'EUR' }
  const read = await ask(`${world.url}/v1/rounds`, { token })
  t.match(read, { status: 503, code: 'SERVICE_UNAVAILABLE' })
  t.equal(read.headers.get('retry-after'), '1')
  t.match(await post('/v1/transactions', bet), { status: 503, code: 'SERVICE_UNAVAILABLE' })
  t.match(await post('/v1/game/rounds', { stake: '1', bet: {} }, player), { status: 503 })
  t.equal((await post('/v1/transactions', win)).status, 201)
  t.equal((await post(`/v1/game/rounds/${ids.round}/cashout`, undefined, player)).status, 200)
  t.equal((await post(`/v1/game/rounds/${ids.round}/reveal`, { tile: 1 }, player)).status, 200)
  for (const release of held) release()
  await Promise.allSettled(stuck)
})
