import { listedRefusals } from '../../wallet-words.ts'
import { CaseFailure, defineCase, expect } from '../run-cases.ts'
import {
  describe,
  expectMoved,
  expectRefusal,
  expectSuccess,
  remedyOf,
  type WalletCase,
  whyUnreadable,
} from './wallet-under-test.ts'

const WORDS_HINT =
  'Say OK, or DUPLICATE to a repeat, in capitals; refuse with 4xx and a word of the contract. Anything else is no clear answer.'

/** Cases that need no test player: how an answer is written. */
export const answerCases: readonly WalletCase[] = [
  defineCase('shape', 'answer-json', {
    title: 'Answers are JSON objects in UTF-8 with each field once',
    hint: 'Answer every call with a JSON object in UTF-8, each field once, with its result in the text field "status".',
    async run(wallet) {
      const answer = await wallet.askBalance()
      const unreadable = whyUnreadable(answer)
      if (unreadable !== null) throw new CaseFailure(`balance: the body is ${unreadable}`, remedyOf(answer))
      const charset = /charset=\s*"?([^";\s]+)/i.exec(answer.contentType)?.[1] ?? 'utf-8'
      const [first, second, third] = answer.body
      return [
        ...(first === 0xef && second === 0xbb && third === 0xbf
          ? ['The answer begins with a byte order mark. It is passed over.']
          : []),
        ...(/^utf-?8$/i.test(charset)
          ? []
          : [`The content-type says charset=${charset}. Answers are read as UTF-8 all the same.`]),
      ].join(' ')
    },
  }),
  defineCase('shape', 'word-balance', {
    title: 'A balance is answered OK, or with a word of the contract',
    hint: WORDS_HINT,
    async run(wallet) {
      const answer = await wallet.askBalance()
      const isClear = answer.status === 'OK' || listedRefusals.has(answer.status ?? '')
      expect(isClear, `balance: expected OK, got ${describe(answer)}`, remedyOf(answer))
    },
  }),
]

/** Cases about the words of movements. */
export const wordCases: readonly WalletCase[] = [
  defineCase('shape', 'words-success', {
    title: 'Debit, repeat, credit and rollback are acknowledged with OK or DUPLICATE',
    hint: WORDS_HINT,
    run: (wallet) =>
      expectMoved(wallet, 0n, async () => {
        const [bet, win] = [wallet.body('BET', 1n), wallet.body('WIN', 1n)]
        const back = wallet.body('ROLLBACK', 1n, { referenceTransactionId: win.transactionId })
        expectSuccess('debit', await wallet.send('debit', bet))
        expectSuccess('the same debit again', await wallet.send('debit', bet))
        expectSuccess('credit', await wallet.send('credit', win))
        expectSuccess('rollback', await wallet.send('rollback', back))
        expectSuccess('credit', await wallet.send('credit', wallet.body('WIN', 1n)))
      }),
  }),
  defineCase('shape', 'words-refusal', {
    title: 'Refusals are clear: 4xx or 200 with a word that is not near a success',
    hint: WORDS_HINT,
    run: (wallet) =>
      expectMoved(wallet, 0n, async () => {
        const tooMuch = await wallet.send('debit', wallet.body('BET', (await wallet.balance()) + 1n))
        expectRefusal('debit above the balance', tooMuch)
        const malformed = await wallet.send('debit', { ...wallet.body('BET', 1n), amount: '' })
        expectRefusal('debit without an amount', malformed)
        const own = [tooMuch, malformed].find(
          ({ httpStatus, status }) => httpStatus < 300 && !listedRefusals.has(status ?? ''),
        )
        return own === undefined
          ? ''
          : `${own.status} under HTTP ${own.httpStatus} is a word of your own: the player is refused, and we send you a rollback to be sure. Under 4xx there is none.`
      }),
  }),
]
