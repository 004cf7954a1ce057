import t from 'tap'
import { clientOf, configureWallet, newScope, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
const bridges = [await startBridge(suite.environment()), await startBridge(suite.environment())]
t.teardown(() => Promise.all(bridges.map((bridge) => bridge.stop())))

await t.test('fifty parallel stakes with money for ten make ten, whichever replica takes them', async (t) => {
  const scope = newScope()
  const wallet = await startSandboxWallet(t, 'not yet known')
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url, { timeout_ms: 15_000 }))
  const client = clientOf(suite.bus, scope)
  for (let time = 0; time < 20; time++) {
    const playerId = `player-${time}`
    const stakes = Array.from({ length: 50 }, () =>
      specOf({ playerId, amount: '100.00', driver: 'operator' }),
    )
    const placed = await Promise.all(stakes.map((spec) => client.place(spec)))
    const taken = placed.filter(({ movement }) => movement.status === 'SUCCESS')
    t.equal(taken.length, 10, `${playerId}: ten are taken`)
    const refused = placed.filter(({ movement }) => movement.wallet_code === 'INSUFFICIENT_FUNDS')
    t.equal(refused.length, 40, `${playerId}: the others are refused`)
    const entries = await wallet.ledger({ player_id: playerId })
    const debits = entries.filter(({ operation, effect }) => operation === 'debit' && effect === '-100.00')
    t.equal(debits.length, 10, `${playerId}: ten debits`)
    t.same(
      new Set(debits.map(({ transaction_id }) => transaction_id)),
      new Set(taken.map(({ movement }) => movement.transaction_id)),
      `${playerId}: the wallet has taken these and no others`,
    )
  }
})
