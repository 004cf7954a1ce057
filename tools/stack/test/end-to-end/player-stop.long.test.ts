import { stopSchema } from '@pitboss/contracts/objects/player-stop'
import { createOperatorClient, untilServed } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'
import t from 'tap'

/** What is promised to an authority is this time; the service holds the stop from its answer on. */
const promisedMs = 2000
/** By then the connections have reached each gateway, and their calls each replica of rounds. */
const reachedMs = 60_000
const stake = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }

t.test('two gateways refuse the stakes of a stopped player from the answer on', async (t) => {
  // Who asks until each process has refused may have to ask for longer than the limits like.
  const limits = Object.fromEntries(
    ['OPERATOR_PER_S', 'OPERATOR_BURST', 'ACCOUNT_PER_S', 'ACCOUNT_BURST', 'LAUNCHER_PER_S'].map((name) => [
      `PITBOSS_LIMIT_${name}`,
      '100000',
    ]),
  )
  const stack = await runStack(t, ['--replicas', 'gateway=2,rounds=2'], limits)
  const { processes, ...demo } = stack.demo()
  const operator = await createOperatorClient({ ...demo, processes })
  const judges = processes.filter(({ name }) => name === 'gateway' || name === 'rounds')
  t.equal(judges.length, 4)

  /** How often each gateway and each replica of rounds has refused a stake because its player is blocked. */
  const refusedBy = () =>
    Promise.all(
      judges.map(async ({ http_url: url }) => {
        const text = await (await fetch(`${url}/metrics`)).text()
        const counts = text.split('\n').filter((line) => /_seconds_count\{.*"PLAYER_BLOCKED"/.test(line))
        return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
      }),
    )

  for (const player_id of ['stopped-1', 'stopped-2']) {
    const own = await operator.openSession({ player_id, game: 'dice', currency: 'USD' })
    const mines = await operator.openSession({ player_id, game: 'mines', currency: 'USD' })
    const played = await untilServed('a round', () => own.call('POST', '/game/rounds', stake))
    t.equal(played.status, 201, `before the stop: ${JSON.stringify(played.body)}`)
    const before = await refusedBy()

    const path = `/players/${encodeURIComponent(player_id)}/stop`
    const stopped = await operator.call('POST', path, { reason: 'self-exclusion' })
    const answeredAt = performance.now()
    t.equal(stopped.status, 200)
    // The first ones after the answer are refused, so nothing has to be heard of first; none is taken later.
    const given = new Set<string>()
    const agoMs = () => performance.now() - answeredAt
    const hasReachedAll = async () => (await refusedBy()).every((count, at) => count > (before[at] ?? 0))
    do {
      const refusals = await Promise.all(
        [1, 2, 3].flatMap((nth) => [
          own.call('POST', '/game/rounds', stake),
          own.call('POST', '/game/rounds', { ...stake, free_bet: true }),
          mines.call('POST', '/game/rounds', { stake: '1.00', bet: { mines: 3 } }),
          operator.call('POST', '/transactions', {
            ...{ type: 'BET', session_id: own.session.session_id, amount: '1.00', currency: 'USD' },
            transaction_id: `${player_id}-${nth}`,
          }),
          operator.call('POST', '/sessions', { player_id, game: 'dice', currency: 'USD' }),
        ]),
      )
      for (const { status, body } of refusals) given.add(`${status} ${String(body.code)}`)
    } while (agoMs() < promisedMs || (agoMs() < reachedMs && !(await hasReachedAll())))
    t.same([...given], ['403 PLAYER_BLOCKED'])
    t.ok(await hasReachedAll(), 'each gateway and each replica of rounds has refused')
    const [stop] = [(await operator.call('GET', `${path}s`)).body.data].flat()
    t.equal(stopSchema.parse(stop).status, 'IN_FORCE')
  }
})
