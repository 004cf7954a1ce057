import t from 'tap'
import { checkBooks } from '../fixtures/check-books.ts'
import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'

t.test('a stranger starts the product and money moves', async (t) => {
  const since = new Date().toISOString()
  // From the sources, as users do, not from the bundles of this run, which load faster.
  const stack = await runStack(t, [], { PITBOSS_SERVICE_ENTRIES: undefined })
  const demo = stack.demo()
  const operator = await createOperatorClient(demo)

  await t.test('a dice round settles, verifies and is told to everybody', async (t) => {
    const player = await operator.openSession({ player_id: 'alice', game: 'dice', currency: 'USD' })
    t.match(player.session, {
      status: 'ACTIVE',
      environment: 'SANDBOX',
      launch_url: `${demo.base_url}/play/dice#token=`,
    })
    const shown = await player.call('GET', '/game/session')
    t.equal(shown.status, 200)
    const commitment = shown.body.next_round
    const play = () =>
      player.call('POST', '/game/rounds', {
        stake: '1.00',
        bet: { target: '50.00', direction: 'over' },
        client_seed: 'mine',
        transaction_id: `once-${since}`,
      })
    const played = await play()
    t.equal(played.status, 201, JSON.stringify(played.body))
    t.match(await play(), { status: 201, body: played.body }, 'asked again, the same round')
    t.match(played.body.fairness, commitment, 'the seed was committed to before the bet')
    const { body: verdict } = await send('POST', `${demo.base_url}/v1/public/verify`, { body: played.body })
    t.equal(verdict.valid, true, JSON.stringify(verdict))
    const page = await fetch(`${demo.base_url}/v1/public/verify`)
    t.match(page.headers.get('content-type'), /^text\/html/, 'asked with GET it is the page that verifies')
    t.match(await page.text(), /<!doctype html>/i)
  })

  await t.test('bad input moves nothing and says what is wrong', async (t) => {
    const player = await operator.openSession({ player_id: 'bob', game: 'dice', currency: 'JPY' })
    const bet = { target: '50.00', direction: 'over' }
    const cases: [
      name: string,
      answer: ReturnType<typeof player.call>,
      status: number,
      code: string,
      path?: string,
    ][] = [
      [
        'unreadable JSON',
        send('POST', `${demo.base_url}/v1/sessions`, { token: operator.token, rawBody: '{"a":' }),
        422,
        'VALIDATION_ERROR',
      ],
      [
        'a number where a decimal string belongs',
        player.call('POST', '/game/rounds', { stake: 100, bet }),
        422,
        'VALIDATION_ERROR',
        'stake',
      ],
      [
        'more decimals than the currency has',
        player.call('POST', '/game/rounds', { stake: '100.5', bet }),
        422,
        'VALIDATION_ERROR',
        'stake',
      ],
      [
        'an unknown field',
        player.call('POST', '/game/rounds', { stake: '100', bet, extra: 1 }),
        422,
        'VALIDATION_ERROR',
        'extra',
      ],
      [
        'a currency that is not enabled',
        operator.call('POST', '/sessions', { player_id: 'b', game: 'dice', currency: 'GBP' }),
        422,
        'CURRENCY_NOT_SUPPORTED',
      ],
      ['an unknown route', operator.call('GET', '/nowhere'), 404, 'NOT_FOUND'],
      ['no token', send('GET', `${demo.base_url}/v1/games`), 401, 'UNAUTHORIZED'],
      [
        'a wrong token',
        send('GET', `${demo.base_url}/v1/games`, { token: 'x.y.z' }),
        401,
        'INVALID_CREDENTIALS',
      ],
      [
        'a token of another audience',
        send('GET', `${demo.base_url}/v1/games`, { token: player.playerToken }),
        403,
        'INSUFFICIENT_SCOPE',
      ],
    ]
    for (const [name, pending, status, code, path] of cases) {
      const { body, status: actual, headers } = await pending
      t.equal(actual, status, `${name}: ${JSON.stringify(body)}`)
      t.match(body, { code, retryable: false, request_id: headers.get('x-request-id') ?? 'missing' }, name)
      if (path !== undefined) t.match(body.details, [{ path }], name)
    }
    t.strictSame(await operator.all('/transactions?player_id=bob'), [], 'nothing moved')
  })

  t.strictSame(await checkBooks(demo, operator, since), [])
})
