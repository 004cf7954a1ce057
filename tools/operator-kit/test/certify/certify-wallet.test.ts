import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import t, { type Test } from 'tap'
import { certifyWallet } from '../../src/certify/certify-wallet.ts'
import { createWalletApp } from '../../src/sandbox-wallet/create-wallet-app.ts'
import { startWrongWallet, type WalletBug } from '../fixtures/wrong-wallet.ts'

async function failedCases(url: string, currency = 'USD'): Promise<{ failed: string[]; passed: number }> {
  const report = await certifyWallet({
    ...{ url, currency, secret: 'wallet-secret', playerId: 'certified', timeoutMs: 5000 },
    ...{ blockedPlayerId: 'blocked', unknownPlayerId: 'unknown' },
  })
  const failed = report.cases.filter(({ outcome }) => outcome === 'failed')
  return { failed: failed.map(({ id }) => id), passed: report.passed }
}

async function startSandbox(t: Test): Promise<string> {
  const app = await createWalletApp({
    ...{ dataDir: t.testdir(), secret: 'wallet-secret', startingBalance: '1000.00', seed: 1 },
  })
  t.teardown(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

await t.test('the suite has at least 40 cases with distinct names', async (t) => {
  t.ok(walletCases.length >= 40)
  t.equal(new Set(walletCases.map(({ id }) => id)).size, walletCases.length)
})

await t.test('the sandbox wallet passes every case, with and without decimals', async (t) => {
  const url = await startSandbox(t)
  for (const currency of ['USD', 'JPY', 'BTC']) {
    t.same(await failedCases(url, currency), { failed: [], passed: walletCases.length }, currency)
  }
})

await t.test(
  'a wallet without a mistake passes, each seeded mistake fails the case made for it',
  async (t) => {
    const mistakes: Array<[WalletBug, string[]]> = [
      ['none', []],
      ['signature-ignored', ['signature-missing', 'signature-wrong-secret', 'body-tampered', 'clock-old']],
      ['clock-ignored', ['clock-old', 'clock-future']],
      ['body-reserialised', ['body-spaces']],
      ['fields-strict', ['fields-unknown']],
      ['debits-forgotten', ['debit-twice', 'debit-parallel', 'duplicate-after-others']],
      ['tombstones-forgotten', ['tombstone', 'tombstone-stays']],
      ['rollbacks-forgotten', ['rollback-other-id']],
      ['conflicts-accepted', ['conflict-amount', 'conflict-round', 'conflict-operation']],
      ['refusals-forgotten', ['refusal-stays']],
      ['funds-checked-first', ['duplicate-without-funds']],
      ['lost-updates', ['parallel-distinct', 'parallel-overdraft']],
      ['money-in-doubles', ['amount-full-precision']],
      ['balance-as-number', ['player-ready', 'balance-shape']],
      ['unknown-rollback-500', ['rollback-unknown']],
      ['rolled-back-is-duplicate', ['tombstone', 'debit-after-rollback']],
    ]
    for (const [bug, cases] of mistakes) {
      const { failed } = await failedCases(await startWrongWallet(t, bug))
      const missed = cases.filter((id) => !failed.includes(id))
      t.same(missed, [], `${bug} fails ${cases.join(', ')}`)
      if (bug === 'none') t.same(failed, [], 'and nothing else')
    }
  },
)

await t.test('nobody at home fails every case and throws nothing', async (t) => {
  const { passed } = await failedCases('http://127.0.0.1:9')
  t.equal(passed, 0)
})
