import { currencyDigits } from '@pitboss/money/currencies'
import { defineCase, expect } from '../run-cases.ts'
import { expectMoved, expectRefusal, expectSuccess, moving, type WalletCase } from './wallet-under-test.ts'

/** Just above the integers that a double holds; 15 digits before the point are the most of an amount. */
const BEYOND_DOUBLE_MINOR = 2n ** 53n
const LARGEST_WHOLE_AMOUNT = 10n ** 14n + 1n

/** The least that the player must own for the suite, in minor units: 100 whole units. */
export function neededMinor(currency: string): bigint {
  return 100n * unit(currency)
}

function unit(currency: string): bigint {
  return 10n ** BigInt(currencyDigits(currency) ?? 0)
}

/** Balance, debit and credit when nothing goes wrong. */
export const moneyCases: readonly WalletCase[] = [
  defineCase('balance', 'balance-shape', {
    title: 'Balance answers 200 with status, balance as a string and currency',
    hint: 'Answer { "status": "OK", "balance": "10.00", "currency": "USD" }; never a JSON number.',
    async run(wallet) {
      const answer = await wallet.askBalance()
      expectSuccess('balance', answer)
      expect(
        typeof answer.fields.get('balance') === 'string',
        'balance: the field "balance" must be a string',
      )
      expect(
        answer.fields.get('currency') === wallet.currency,
        `balance: currency must be ${wallet.currency}`,
      )
    },
  }),
  defineCase('balance', 'balance-decimals', {
    title: 'Balances show all decimals of the currency',
    hint: '"10.00" in USD, "10" in JPY: neither "10" nor "10.000" in USD.',
    async run(wallet) {
      const answer = await wallet.askBalance()
      const balance = answer.fields.get('balance')
      const expected = answer.balanceMinor === null ? 'a decimal string' : wallet.amount(answer.balanceMinor)
      expect(balance === expected, `expected ${expected}, got ${JSON.stringify(balance)}`)
    },
  }),
  defineCase('balance', 'balance-json', {
    title: 'Answers are labelled application/json',
    hint: 'Set content-type: application/json on every answer.',
    async run(wallet) {
      const answer = await wallet.askBalance()
      expect(
        answer.contentType.startsWith('application/json'),
        `got content-type ${JSON.stringify(answer.contentType)}`,
      )
    },
  }),
  defineCase('balance', 'balance-moves-nothing', {
    title: 'Asking for the balance changes nothing',
    hint: 'Balance is a read.',
    run: (wallet) => expectMoved(wallet, 0n, async () => void (await wallet.balance())),
  }),
  movesExactly(
    'debit-exact',
    'A debit takes exactly its amount',
    'debit',
    (currency) => 3n * unit(currency) + 7n,
  ),
  movesExactly('debit-smallest', 'A debit of the smallest unit is exact', 'debit', () => 1n),
  movesExactly(
    'credit-exact',
    'A credit gives exactly its amount',
    'credit',
    (currency) => 2n * unit(currency) + 9n,
  ),
  movesExactly('credit-smallest', 'A credit of the smallest unit is exact', 'credit', () => 1n),
  movesExactly('credit-zero', 'A credit of zero is accepted', 'credit', () => 0n),
  defineCase('debit', 'debit-own-id', {
    title: "A debit's answer carries the wallet's own transactionId and the balance after it",
    hint: 'Answer { "status": "OK", "balance": "…", "currency": "…", "transactionId": "<your id>" }.',
    async run(wallet) {
      const before = await wallet.balance()
      const answer = await wallet.send('debit', wallet.body('BET', 1n))
      expectSuccess('debit', answer)
      const id = answer.fields.get('transactionId')
      expect(
        (typeof id === 'string' && id !== '') || typeof id === 'number',
        `transactionId must be a non-empty string, got ${JSON.stringify(id)}`,
      )
      expect(answer.balanceMinor === before - 1n, `balance must be ${wallet.amount(before - 1n)}`)
      return typeof id === 'number' ? 'The id is a JSON number. It is kept digit by digit.' : ''
    },
  }),
  defineCase('debit', 'debit-insufficient', {
    title: 'A debit above the balance is refused with INSUFFICIENT_FUNDS and moves nothing',
    hint: 'Compare and take in one step (one SQL update with a condition), then answer the code exactly.',
    run: moving(0n, async (wallet) => {
      const body = wallet.body('BET', (await wallet.balance()) + 1n)
      expectRefusal('debit', await wallet.send('debit', body), 'INSUFFICIENT_FUNDS')
      expectRefusal('the same debit again', await wallet.send('debit', body), 'INSUFFICIENT_FUNDS')
    }),
  }),
  defineCase('debit', 'debit-whole-balance', {
    title: 'The whole balance can be staked',
    hint: 'A stake equal to the balance is allowed.',
    run: moving(0n, async (wallet) => {
      const all = await wallet.balance()
      const bet = wallet.body('BET', all)
      expectSuccess('debit of the whole balance', await wallet.send('debit', bet))
      expect((await wallet.balance()) === 0n, 'the balance should be zero')
      const back = wallet.body('ROLLBACK', all, { referenceTransactionId: bet.transactionId })
      expectSuccess('rollback', await wallet.send('rollback', back))
    }),
  }),
  defineCase('credit', 'credit-free-bet', {
    title: 'A win without a debit (free bet) is credited',
    hint: 'freeBet: true has no stake of yours; do not look for a debit of that round.',
    run: moving(5n, async (wallet) => {
      expectSuccess('credit', await wallet.send('credit', wallet.body('WIN', 5n, { freeBet: true })))
    }),
  }),
  defineCase('credit', 'credit-refund', {
    title: 'A refund is a credit that names the stake it gives back',
    hint: 'type REFUND arrives at /credit with referenceTransactionId.',
    run: moving(0n, async (wallet) => {
      const bet = wallet.body('BET', 11n)
      expectSuccess('debit', await wallet.send('debit', bet))
      const { roundId, transactionId } = bet
      const refund = wallet.body('REFUND', 11n, { roundId, referenceTransactionId: transactionId })
      expectSuccess('refund', await wallet.send('credit', refund))
    }),
  }),
  defineCase('debit', 'round-two-stakes', {
    title: 'Two stakes and a win of one round all count',
    hint: 'Uniqueness is by transactionId, not by roundId.',
    run: moving(-3n, async (wallet) => {
      const first = wallet.body('BET', 4n)
      const { roundId } = first
      expectSuccess('first stake', await wallet.send('debit', first))
      expectSuccess('second stake', await wallet.send('debit', wallet.body('BET', 5n, { roundId })))
      expectSuccess('win', await wallet.send('credit', wallet.body('WIN', 6n, { roundId })))
    }),
  }),
  defineCase('credit', 'amount-full-precision', {
    title: 'Amounts beyond what a double can hold stay exact',
    hint: 'Keep money in integers or decimals of the database, never in floating point.',
    run: (wallet) => {
      const large = currencyDigits(wallet.currency) === 0 ? LARGEST_WHOLE_AMOUNT : BEYOND_DOUBLE_MINOR
      return expectMoved(wallet, 0n, async () => {
        for (const minor of [large, 1n]) {
          await expectMoved(wallet, minor, async () => {
            expectSuccess('credit', await wallet.send('credit', wallet.body('WIN', minor)))
          })
        }
        expectSuccess('debit', await wallet.send('debit', wallet.body('BET', large + 1n)))
      })
    },
  }),
  defineCase('credit', 'amount-many-small', {
    title: 'Ten credits of a tenth add up to one exactly',
    hint: '0.1 + 0.2 is not 0.3 in floating point.',
    run: (wallet) => {
      const tenth = (unit(wallet.currency) + 9n) / 10n
      return expectMoved(wallet, 10n * tenth, async () => {
        for (let count = 0; count < 10; count++) {
          expectSuccess('credit', await wallet.send('credit', wallet.body('WIN', tenth)))
        }
      })
    },
  }),
]

function movesExactly(
  id: string,
  title: string,
  operation: 'debit' | 'credit',
  amountOf: (currency: string) => bigint,
): WalletCase {
  const sign = operation === 'debit' ? -1n : 1n
  return defineCase(operation, id, {
    title,
    hint: 'Move minor units as integers; round nothing.',
    run: (wallet) => {
      const minor = amountOf(wallet.currency)
      return expectMoved(wallet, sign * minor, async () => {
        const body = wallet.body(operation === 'debit' ? 'BET' : 'WIN', minor)
        expectSuccess(operation, await wallet.send(operation, body))
      })
    },
  })
}
