import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { AmountError, formatAmount, isAmount, parseAmount, readBalance } from '../src/amount.ts'

function reasonOf(value: unknown, currency: string): string {
  try {
    return `parsed ${parseAmount(value, currency)}`
  } catch (error) {
    if (error instanceof AmountError) return error.reason
    throw error
  }
}

await t.test('a decimal string becomes minor units of its currency', async (t) => {
  t.equal(parseAmount('10.00', 'USD'), 1000n)
  t.equal(parseAmount('10', 'USD'), 1000n)
  t.equal(parseAmount('10.5', 'USD'), 1050n)
  t.equal(parseAmount('0', 'JPY'), 0n)
  t.equal(parseAmount('0.00010000', 'BTC'), 10000n)
  t.equal(parseAmount('999999999999999.999999999999999999', 'ETH'), 999999999999999999999999999999999n)
})

await t.test('a balance may be what no amount can be', async (t) => {
  t.equal(readBalance('10.5', 'USD'), 1050n)
  t.equal(readBalance('-10.5', 'USD'), -1050n)
  t.equal(readBalance('-0.00', 'USD'), 0n)
  t.equal(readBalance('-0.009', 'USD'), 0n, 'what the currency does not have is cut')
  t.equal(readBalance('990.00', 'JPY'), 990n)
  t.equal(readBalance('1234567890123456789.01', 'USD'), 123456789012345678901n)
  for (const none of ['', '-', '1e3', '+1', ' 1', '1.', '.5', '--1', 'NaN', 1, null, undefined, {}])
    t.equal(readBalance(none, 'USD'), null, inspect(none))
})

await t.test('an amount has at most 15 digits before the point', async (t) => {
  t.equal(isAmount(99_999_999_999_999_999n, 'USD'), true)
  t.equal(isAmount(100_000_000_000_000_000n, 'USD'), false)
  t.equal(isAmount(-1n, 'USD'), false)
  t.equal(isAmount(parseAmount('999999999999999', 'JPY') + 1n, 'JPY'), false)
})

await t.test('output always shows all decimals of the currency', async (t) => {
  t.equal(formatAmount(1000n, 'USD'), '10.00')
  t.equal(formatAmount(100n, 'JPY'), '100')
  t.equal(formatAmount(10000n, 'BTC'), '0.00010000')
  t.equal(formatAmount(0n, 'KWD'), '0.000')
  t.equal(formatAmount(0n, 'JPY'), '0')
  t.equal(formatAmount(-1250n, 'EUR'), '-12.50')
  t.equal(formatAmount(-5n, 'EUR'), '-0.05')
})

await t.test('what is no amount is refused with its reason', async (t) => {
  for (const value of [10, 10.5, 10n, null, undefined, true, {}, ['1']]) {
    t.equal(reasonOf(value, 'USD'), 'NOT_A_STRING', inspect(value))
  }
  const malformed = [
    '',
    ' 1',
    '1 ',
    '1\n',
    '+1',
    '-1',
    '-0',
    '1e3',
    '01',
    '00',
    '.5',
    '1.',
    '1,00',
    '0x1',
    'NaN',
    '١',
  ]
  for (const value of [...malformed, '1000000000000000', `0.${'0'.repeat(19)}`]) {
    t.equal(reasonOf(value, 'ETH'), 'NOT_A_DECIMAL', JSON.stringify(value))
  }
  t.equal(reasonOf('1.000', 'USD'), 'TOO_MANY_DECIMALS')
  t.equal(reasonOf('1.0', 'JPY'), 'TOO_MANY_DECIMALS')
  t.equal(reasonOf('1.0000', 'KWD'), 'TOO_MANY_DECIMALS')
  t.equal(reasonOf('1.00', 'ABC'), 'UNKNOWN_CURRENCY')
  t.equal(reasonOf('1.00', 'usd'), 'UNKNOWN_CURRENCY')
})

await t.test('formatting and parsing again changes nothing', async (t) => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 10n ** 15n - 1n),
      fc.constantFrom('USD', 'JPY', 'KWD', 'BTC', 'ETH', 'FUN'),
      (minor, code) => parseAmount(formatAmount(minor, code), code) === minor,
    ),
  )
  t.pass('1000 values')
})
