import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { runStack } from '@pitboss/testing/run-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'

/** The numbers that processes give to Prometheus, after what was done to a running product. */

t.test('what happens is counted where it happens', async (t) => {
  const stack = await runStack(t, [], { PITBOSS_LIMIT_ADDRESS_PER_S: '1', PITBOSS_LIMIT_ADDRESS_BURST: '3' })
  const demo = stack.demo()
  /** The value of the one series whose name and labels hold all these words; null without one. */
  const read = async (service: string, ...words: string[]): Promise<number | null> => {
    const url = demo.processes.find(({ name }) => name === service)?.http_url
    const text = await (await fetch(`${url}/metrics`)).text()
    const found = text
      .split('\n')
      .filter((line) => !line.startsWith('#') && words.every((word) => line.includes(word)))
    if (found.length > 1) throw new Error(`several series: ${found.join('\n')}`)
    return found[0] === undefined ? null : Number(found[0].split(' ').at(-1))
  }
  const entered = (status: string) => read('rounds', 'pitboss_rounds_entered_total{', `"${status}"`)
  t.strictSame(await Promise.all(['PENDING', 'SETTLED', 'VOIDED', 'FAILED'].map(entered)), [0, 0, 0, 0])

  const operator = await createOperatorClient(demo)
  const { wallet } = demo
  const player = await operator.openSession({ player_id: 'alice', game: 'dice', currency: 'USD' })
  const play = (stake: string) =>
    player.call('POST', '/game/rounds', { stake, bet: { target: '10.00', direction: 'over' } })
  let won = 0
  await waitFor(
    async () => {
      const { body, status } = await play('1.00')
      if (status === 201 && body.payout !== '0.00') won += 1
      return won === 2
    },
    { what: 'two rounds that win' },
  )
  const rule = { kind: 'refuse', code: 'INSUFFICIENT_FUNDS', operation: 'debit', count: 1 }
  await send('PUT', `${wallet.url}/sandbox/faults`, { body: { rules: [rule] } })
  t.equal((await play('1.00')).body.code, 'INSUFFICIENT_FUNDS')

  const settled = (await entered('SETTLED')) ?? 0
  t.ok(settled >= 2)
  t.equal(await entered('VOIDED'), 0)
  t.equal(await entered('FAILED'), 1, 'the refused stake')
  t.equal(await entered('PENDING'), settled + 1, 'as many began as ended')
  const ended = (type: string, outcome: string) =>
    read('wallet-bridge', 'pitboss_movements_ended_total{', `"${type}"`, `"${outcome}"`)
  t.equal(await ended('BET', 'SUCCESS'), settled)
  t.equal(await ended('BET', 'FAILED'), 1)
  t.equal(await ended('WIN', 'SUCCESS'), 2)
  t.equal(await read('wallet-bridge', 'pitboss_wallet_breakers_open'), 0)
  for (const standing of ['answering', 'full', 'silent'])
    t.equal(await read('wallet-bridge', 'pitboss_movement_due_lag_seconds{', `"${standing}"`), 0)
  const plays = ['pitboss_call_seconds_count{', '"rounds.v1.player.play"'] as const
  t.equal(await read('rounds', ...plays, 'code=""'), settled)
  t.equal(await read('rounds', ...plays, 'INSUFFICIENT_FUNDS'), 1)

  const asked = Array.from({ length: 12 }, () => send('GET', `${demo.base_url}/v1/public/openapi.json`))
  const refused = (await Promise.all(asked)).filter(({ status }) => status === 429).length
  t.ok(refused > 0)
  t.equal(await read('gateway', 'pitboss_limit_refusals_total{', '"address"'), refused)

  await waitFor(
    async () =>
      (await read('webhooks', 'pitboss_consumer_pending{', '"webhooks-fanout"')) === 0 &&
      (await read('rounds', 'pitboss_consumer_pending{', '"rounds-movements"')) === 0 &&
      (await read('rounds', 'pitboss_journal_oldest_seconds', '')) === 0 &&
      (await read('wallet-bridge', 'pitboss_journal_oldest_seconds', '')) === 0,
    { what: 'nothing to wait' },
  )
})
