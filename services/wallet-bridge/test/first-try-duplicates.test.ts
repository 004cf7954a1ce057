import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

t.test('a wallet that takes a new stake for another is noticed, a repeat is not', async (t) => {
  const registry = new Registry()
  const suite = await startSuite(t)
  const bridge = await startBridge(suite.environment(), registry)
  t.teardown(() => bridge.stop())
  const { wallet, client } = await openWallet(t, suite.bus)
  const counted = async () =>
    (await registry.getMetricsAsJSON()).find(({ name }) => name.endsWith('first_try_duplicates_total'))
  const debits = (value: number) => ({ values: [{ labels: { operation: 'debit' }, value }] })

  await wallet.setFaults([{ operation: 'debit', kind: 'drop', apply: true, count: 1 }])
  const repeated = specOf({})
  await client.place(repeated)
  const settled = await waitFor(async () => {
    const movement = (await client.show(repeated.transactionId))?.movement
    return movement?.status === 'SUCCESS' ? movement : undefined
  })
  t.equal(settled.wallet_code, 'DUPLICATE', 'the second try of a stake that was taken')
  t.match(await counted(), debits(0))

  await wallet.setFaults([{ operation: 'debit', kind: 'refuse', code: 'DUPLICATE', http_status: 200 }])
  const taken = await client.place(specOf({}))
  t.match(taken, { movement: { status: 'SUCCESS', wallet_code: 'DUPLICATE' } })
  t.match(await counted(), debits(1))
})
