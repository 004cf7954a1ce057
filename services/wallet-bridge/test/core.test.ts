import { getFlagRules } from '@pitboss/contracts/endpoints/flags'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { callerOf, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

t.test('the core without wings settles a stake and its win, and their events follow', async (t) => {
  const suite = await startSuite(t)
  const bridge = await startBridge(suite.environment(), new Registry(), [])
  t.teardown(() => bridge.stop())
  const { wallet, scope, client } = await openWallet(t, suite.bus)
  const bet = specOf()
  t.match(await client.place(bet), { movement: { status: 'SUCCESS', balance_after: '990.00' } })
  const win = { ...bet, ...specOf({ type: 'WIN', amount: '25.00' }), roundId: bet.roundId }
  t.match(await client.place(win, bet), { movement: { status: 'SUCCESS', balance_after: '1015.00' } })
  for (const { transactionId } of [bet, win]) {
    t.equal((await wallet.ledger({ transaction_id: transactionId })).length, 1, 'moved once')
    await waitFor(() => suite.eventsOf(transactionId).length > 0, { what: 'its event is out' })
  }
  const asked = { caller: callerOf(scope), params: {}, query: {}, body: undefined }
  const left = suite.bus.call(getFlagRules.call, { ...asked, params: { environment: 'TEST' } })
  await t.rejects(left, { code: 'SERVICE_UNAVAILABLE' }, 'nobody answers for a wing that is left out')
})
