import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { checkBooks } from '../fixtures/check-books.ts'

t.test(
  'each service is killed in turn while rounds are played: the product heals and the books balance',
  async (t) => {
    const since = new Date().toISOString()
    const stack = await runStack(t, [])
    const demo = stack.demo()
    const operator = await createOperatorClient(demo)
    const players = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        operator.openSession({ player_id: `killed-${index}`, game: 'dice', currency: 'USD' }),
      ),
    )
    for (const name of ['wallet-bridge', 'rounds', 'webhooks', 'auth', 'gateway']) {
      const playing = Promise.all(
        players.map((player) =>
          player.call('POST', '/game/rounds', {
            stake: '1.00',
            bet: { target: '50.00', direction: 'over' },
          }),
        ),
      )
      await stack.killAndAwaitRestart(name)
      for (const { status, body } of await playing) {
        if (status === 504) t.match(body, { code: 'WALLET_TIMEOUT', resource: { round_id: /^rnd_/ } })
        else if (status !== 201 && status !== 0) t.match(body, { retryable: true }, `${status}`)
      }
      const heals = async () => (await send('GET', `${demo.base_url}/readyz`)).status === 200
      await waitFor(heals, { what: 'the product to be ready again' })
    }
    t.strictSame(await checkBooks(demo, operator, since), [])

    await t.test('a restart keeps operators, sessions, rounds and events', async (t) => {
      const window = `from=${encodeURIComponent(since)}`
      const before = await operator.all(`/rounds?${window}`)
      const events = await operator.all(`/events?${window}`)
      t.ok(before.length > 0 && events.length > 0)
      t.equal(await stack.stop(), 0, 'SIGTERM ends it with exit code 0')
      await stack.start()
      const again = await createOperatorClient(stack.demo())
      t.equal(stack.demo().test.api_key, demo.test.api_key)
      t.strictSame(await again.all(`/rounds?${window}`), before)
      t.strictSame(
        (await again.all(`/events?${window}`)).map(({ id }) => id),
        events.map(({ id }) => id),
      )
      t.strictSame(await checkBooks(stack.demo(), again, since), [])
    })
  },
)
