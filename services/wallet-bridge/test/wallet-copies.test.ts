import { putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import t from 'tap'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

/** Calls at once, so that each replica has some. */
const callsPerRound = 8

const suite = await startSuite(t)
const environment = suite.environment()
const bridges = [await startBridge(environment), await startBridge(environment)]
t.teardown(() => Promise.all(bridges.map((bridge) => bridge.stop())))

await t.test('what is answered about a wallet is in force in every replica', async (t) => {
  const scope = newScope()
  const client = clientOf(suite.bus, scope)
  const placeMany = () => Promise.all(Array.from({ length: callsPerRound }, () => client.place(specOf())))
  const statuses = async () => [...new Set((await placeMany()).map(({ movement }) => movement.status))]
  const route = { caller: callerOf(scope), params: { environment: 'TEST' }, query: {} } as const
  const [wallet, other] = [
    await startSandboxWallet(t, 'not yet known'),
    await startSandboxWallet(t, 'neither'),
  ]

  await t.rejects(placeMany(), { code: 'WALLET_NOT_CONFIGURED' })
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url))
  t.strictSame(await statuses(), ['SUCCESS'], 'a wallet that was missing')

  for (let rotation = 0; rotation < 5; rotation++) {
    const { body } = await suite.bus.call(rotateWalletSecret.call, { ...route, body: { overlap_s: 0 } })
    await wallet.setSecret(body.secret ?? '')
    await other.setSecret(body.secret ?? '')
    t.strictSame(await statuses(), ['SUCCESS'], 'signs with the secret that was answered')
  }

  const settings = { timeout_ms: 1000, settle_losses: 'none', same_ledger: true } as const
  for (const [to, from] of [
    [other, wallet],
    [wallet, other],
    [other, wallet],
  ] as const) {
    await suite.bus.call(putWallet.call, { ...route, body: { ...settings, url: to.url } })
    const before = (await from.calls({})).length
    t.strictSame(await statuses(), ['SUCCESS'])
    t.equal((await from.calls({})).length, before, 'none goes to the address of before')
  }
})
