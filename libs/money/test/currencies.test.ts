import t from 'tap'
import { currencyCodes, currencyDigits } from '../src/currencies.ts'

await t.test('minor units are those of ISO 4217, not those of Intl', async (t) => {
  const expected = {
    ...{
      USD: 2,
      EUR: 2,
      GBP: 2,
      JPY: 0,
      KRW: 0,
      CLP: 0,
      ISK: 0,
      VND: 0,
      XAF: 0,
      XOF: 0,
      XPF: 0,
      UGX: 0,
      PYG: 0,
    },
    ...{ BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4, UYI: 0 },
    ...{ HUF: 2, IDR: 2, IRR: 2, LAK: 2, MGA: 2, MRU: 2, RSD: 2, TWD: 2, ZWG: 2, XCG: 2, XCD: 2 },
    ...{ BTC: 8, ETH: 18, LTC: 8, USDT: 6, USDC: 6, FUN: 2 },
  }
  for (const [code, digits] of Object.entries(expected)) t.equal(currencyDigits(code), digits, code)
})

await t.test('units without a minor unit and unknown codes are no currencies', async (t) => {
  for (const code of [
    'XXX',
    'XTS',
    'XAU',
    'XDR',
    'XBA',
    'usd',
    'US',
    'USDX',
    '',
    'DOGE',
    'toString',
    '__proto__',
  ]) {
    t.equal(currencyDigits(code), null, code)
    t.notOk(currencyCodes().includes(code))
  }
})
