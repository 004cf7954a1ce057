import { newId } from '@pitboss/runtime/new-id'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { documentOf, initialState } from '../src/records/new-movement.ts'
import { createMovements } from '../src/storage/movements.ts'
import {
  clientOf,
  configureWallet,
  newScope,
  silentLogger,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const min = 60_000
const h = 60 * min

t.test('the first replica of this build pays a credit that an earlier build delayed for hours', async (t) => {
  const suite = await startSuite(t)
  const wallet = await startSandboxWallet(t, 'not yet known')
  const scope = newScope()
  const before = await startBridge(suite.environment())
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url))
  await before.stop()

  const storage = await connectStorage({
    url: suite.engines.mongodbUrl,
    database: `${suite.engines.databasePrefix}_wallet_bridge`,
    logger: silentLogger,
  })
  t.teardown(() => storage.close())
  const { collection } = createMovements(storage.db)
  const createdAt = new Date(Date.now() - 10 * min)
  const spec = specOf({ type: 'WIN', freeBet: true })
  const state = {
    ...initialState('WIN', createdAt),
    ...{ tries: 103, unknownTries: 103, ladderStep: 103, hinted: false },
    dueAt: new Date(Date.now() + 6 * h),
  }
  await collection.insertOne(documentOf({ scope, spec, reference: newId('txn'), state }))

  const bridge = await startBridge(suite.environment())
  t.teardown(() => bridge.stop())
  const client = clientOf(suite.bus, scope)
  await waitFor(async () => (await client.show(spec.transactionId))?.movement.status === 'SUCCESS', {
    what: 'the win is credited',
  })
  t.equal((await wallet.ledger({ transaction_id: spec.transactionId })).length, 1)
})
