import {
  CaseFailure,
  type CaseResult,
  type CertificationReport,
  defineCase,
  runCases,
} from '../certify/run-cases.ts'
import { moneyCases, neededMinor } from './money-cases.ts'
import { repeatCases } from './repeat-cases.ts'
import { rollbackCases } from './rollback-cases.ts'
import { shapeCases } from './shape-cases.ts'
import { signatureCases } from './signature-cases.ts'
import {
  createWalletUnderTest,
  type WalletUnderTest,
  type WalletUnderTestOptions,
} from './wallet-under-test.ts'

/** Every case that an operator's wallet has to pass, in the order in which they run. */
export const walletCases = [...moneyCases, ...repeatCases, ...rollbackCases, ...signatureCases, ...shapeCases]

/**
 * Runs all wallet cases against a wallet with a test player who owns at least 100 whole units. The player's
 * balance changes by small amounts. Source of the rules: docs/contract.md, section 6. Never throws.
 */
export async function certifyWallet(
  options: WalletUnderTestOptions,
  onResult: (result: CaseResult) => void = () => {},
): Promise<CertificationReport> {
  const wallet = createWalletUnderTest(options)
  const precondition = defineCase<WalletUnderTest>('balance', 'player-ready', {
    title: 'The test player exists and owns at least 100 units',
    hint: 'Name a player with --player and give them a balance; the other cases need it.',
    async run() {
      const balance = await wallet.balance()
      const needed = neededMinor(options.currency)
      if (balance < needed)
        throw new CaseFailure(`the balance is ${wallet.amount(balance)}, needed is ${wallet.amount(needed)}`)
    },
  })
  const cases = [precondition, ...walletCases]
  try {
    return await runCases('pitboss certify-wallet', options.url, cases, wallet, onResult)
  } finally {
    wallet.close()
  }
}
