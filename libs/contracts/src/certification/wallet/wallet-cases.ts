import { httpCases } from '../http-cases.ts'
import { CaseFailure, defineCase } from '../run-cases.ts'
import { moneyCases, neededMinor } from './money-cases.ts'
import { repeatCases } from './repeat-cases.ts'
import { rollbackCases } from './rollback-cases.ts'
import { shapeCases } from './shape-cases.ts'
import { signatureCases } from './signature-cases.ts'
import type { WalletCase, WalletUnderTest } from './wallet-under-test.ts'
import { answerCases, wordCases } from './word-cases.ts'

const playerReady: WalletCase = defineCase('balance', 'player-ready', {
  title: 'The test player exists and owns at least 100 units',
  hint: 'Name a player who plays for nothing else (--player, player_id) and give them a balance; the other cases need it.',
  endsAll: 'The test player cannot play, and every other case needs it. Put that right, then certify again.',
  async run(wallet) {
    const balance = await wallet.balance()
    const needed = neededMinor(wallet.currency)
    if (balance < needed)
      throw new CaseFailure(`the balance is ${wallet.amount(balance)}, needed is ${wallet.amount(needed)}`)
  },
})

/**
 * Every case that an operator's wallet has to pass, in the order in which they run. The balance of the test
 * player changes by small amounts. Source of the rules: docs/contract.md, section 6.
 */
export const walletCases: readonly WalletCase[] = [
  ...httpCases<WalletUnderTest>(),
  ...answerCases,
  playerReady,
  ...wordCases,
  ...moneyCases,
  ...repeatCases,
  ...rollbackCases,
  ...signatureCases,
  ...shapeCases,
]
