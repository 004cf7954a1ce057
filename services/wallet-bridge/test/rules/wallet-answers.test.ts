import t from 'tap'
import type { WalletOperation } from '../../src/rules/movement.ts'
import { judgeExchange, readBalanceAnswer, type WalletExchange } from '../../src/rules/wallet-answers.ts'

type Answer = Extract<WalletExchange, { kind: 'answer' }>
const answer = (httpStatus: number, body: unknown): Answer => ({
  kind: 'answer',
  httpStatus,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  cutOff: false,
  date: null,
})
const fine = { balance: '990.00', currency: 'USD', transactionId: 'w-1' }

type Row = readonly [
  name: string,
  exchange: WalletExchange,
  debit: string,
  credit?: string,
  rollback?: string,
]

const success = 'success'
const unavailable = 'unknown WALLET_UNAVAILABLE'
const timeout = 'unknown WALLET_TIMEOUT'
const refused = (code: string) => `refused ${code}`
const rejected = refused('WALLET_REJECTED')

/**
 * Every row of docs/contract.md, section 6 and what hides between them; credit and rollback are as debit
 * unless they say otherwise.
 */
const table: readonly Row[] = [
  ['OK', answer(200, { status: 'OK', ...fine }), success],
  ['OK under 201', answer(201, { status: 'OK', ...fine }), success],
  ['OK without balance and id', answer(200, { status: 'OK' }), success],
  ['OK with unknown fields', answer(200, { status: 'OK', ...fine, bonus: { deep: ['OK'] } }), success],
  ['DUPLICATE', answer(200, { status: 'DUPLICATE', ...fine }), success],
  ['DUPLICATE under 409', answer(409, { status: 'DUPLICATE', ...fine }), success],
  ['INSUFFICIENT_FUNDS 402', answer(402, { status: 'INSUFFICIENT_FUNDS' }), refused('INSUFFICIENT_FUNDS')],
  ['INSUFFICIENT_FUNDS 200', answer(200, { status: 'INSUFFICIENT_FUNDS' }), refused('INSUFFICIENT_FUNDS')],
  ['PLAYER_BLOCKED', answer(403, { status: 'PLAYER_BLOCKED' }), refused('PLAYER_BLOCKED')],
  ['PLAYER_NOT_FOUND', answer(404, { status: 'PLAYER_NOT_FOUND' }), refused('PLAYER_BLOCKED')],
  ['SELF_EXCLUDED', answer(200, { status: 'SELF_EXCLUDED' }), refused('PLAYER_BLOCKED')],
  ['KYC_REQUIRED', answer(403, { status: 'KYC_REQUIRED' }), refused('PLAYER_BLOCKED')],
  ['LIMIT_EXCEEDED', answer(422, { status: 'LIMIT_EXCEEDED' }), refused('BET_LIMIT_EXCEEDED')],
  ['CURRENCY_MISMATCH', answer(422, { status: 'CURRENCY_MISMATCH' }), refused('CURRENCY_MISMATCH')],
  [
    'CURRENCY_MISMATCH naming its own',
    answer(200, { status: 'CURRENCY_MISMATCH', currency: 'EUR' }),
    refused('CURRENCY_MISMATCH'),
  ],
  ['TEMPORARY_ERROR', answer(200, { status: 'TEMPORARY_ERROR' }), unavailable],
  ['TEMPORARY_ERROR 400', answer(400, { status: 'TEMPORARY_ERROR' }), unavailable],
  ['429', answer(429, { status: 'INSUFFICIENT_FUNDS' }), unavailable],
  ['500', answer(500, 'oops'), unavailable],
  ['503 that says OK', answer(503, { status: 'OK', ...fine }), unavailable],
  ['599', answer(599, { status: 'PLAYER_BLOCKED' }), unavailable],
  ['connection refused', { kind: 'no-answer', reason: 'ECONNREFUSED' }, unavailable],
  ['connection reset', { kind: 'no-answer', reason: 'UND_ERR_SOCKET' }, unavailable],
  ['no complete answer in time', { kind: 'timeout' }, timeout],
  ['not JSON', answer(200, '<html>OK</html>'), unavailable],
  ['empty', answer(200, ''), unavailable],
  ['204', answer(204, ''), unavailable],
  ['half of JSON', answer(200, '{"status":"OK"'), unavailable],
  ['a JSON list', answer(200, [{ status: 'OK' }]), unavailable],
  ['a JSON text', answer(200, '"OK"'), unavailable],
  ['null', answer(200, 'null'), unavailable],
  ['not UTF-8', { ...answer(200, ''), body: Buffer.from([0x7b, 0xff, 0x7d]) }, unavailable],
  ['lacks status', answer(200, fine), unavailable],
  ['status is null', answer(200, { ...fine, status: null }), unavailable],
  ['status is a number', answer(200, { ...fine, status: 200 }), unavailable],
  ['status is empty', answer(200, { ...fine, status: '' }), unavailable],
  ['status is endless', answer(200, { ...fine, status: 'X'.repeat(200) }), unavailable],
  ['status twice', answer(200, '{"status":"OK","status":"INSUFFICIENT_FUNDS"}'), unavailable],
  ['a number as balance', answer(200, { status: 'OK', ...fine, balance: 990 }), unavailable],
  [
    'a number as balance of a refusal',
    answer(200, { status: 'INSUFFICIENT_FUNDS', balance: 1 }),
    unavailable,
  ],
  ['a balance below zero', answer(200, { status: 'OK', ...fine, balance: '-1.00' }), success],
  ['a balance with more decimals', answer(200, { status: 'OK', ...fine, balance: '990.001' }), success],
  ['a balance that nobody can read', answer(200, { status: 'OK', ...fine, balance: '1e3' }), success],
  [
    'a refusal in another currency',
    answer(200, { status: 'INSUFFICIENT_FUNDS', balance: '1.00', currency: 'EUR' }),
    unavailable,
  ],
  ['an object as balance', answer(200, { status: 'OK', ...fine, balance: {} }), unavailable],
  ['another currency', answer(200, { status: 'OK', ...fine, currency: 'EUR' }), unavailable],
  ['currency in small letters', answer(200, { status: 'OK', ...fine, currency: 'usd' }), unavailable],
  ['a redirect', answer(302, { status: 'OK', ...fine }), unavailable],
  ['a permanent redirect', answer(308, ''), unavailable],
  ['304', answer(304, ''), unavailable],
  ['longer than 64 KiB', { ...answer(200, { status: 'OK', ...fine }), cutOff: true }, unavailable],
  ['OK under 400', answer(400, { status: 'OK', ...fine }), unavailable],
  ['404 without JSON', answer(404, 'Not Found'), unavailable],
  ['400 without status', answer(400, { error: 'bad' }), unavailable],
  ...[408, 409, 425, 499].map(
    (status): Row => [`an unknown code ${status}`, answer(status, { status: 'TEAPOT' }), unavailable],
  ),
  ['a known code 409', answer(409, { status: 'PLAYER_BLOCKED' }), refused('PLAYER_BLOCKED')],
  ['an unknown code 400', answer(400, { status: 'TEAPOT' }), rejected],
  ['an unknown code 200', answer(200, { status: 'TEAPOT' }), rejected],
  ['INVALID_SIGNATURE', answer(401, { status: 'INVALID_SIGNATURE' }), rejected],
  ['TRANSACTION_CONFLICT', answer(409, { status: 'TRANSACTION_CONFLICT' }), rejected],
  ['ok in small letters', answer(200, { status: 'ok', ...fine }), unavailable, rejected, rejected],
  ...['OK ', ' ok.', 'Successful', 'CONFIRMED', 'PAID', 'PROCESSED', 'CREATED', 'pending', 'QUEUED'].map(
    (status): Row => [`"${status}" 202`, answer(202, { status }), unavailable, rejected, rejected],
  ),
  ...['Ok', 'duplicate', 'SUCCESS', 'success', 'Succeeded', 'ACCEPTED', 'approved', 'COMPLETED', 'done'].map(
    (status): Row => [`${status} 201`, answer(201, { status, ...fine }), unavailable, rejected, rejected],
  ),
  ...['TRUE', 'true', 'YES', 'yes'].map(
    (status): Row => [`${status} 200`, answer(200, { status }), unavailable, rejected, rejected],
  ),
  ...['ok', 'SUCCESS', 'duplicate'].map(
    (status): Row => [`${status} 400`, answer(400, { status, ...fine }), rejected],
  ),
  ['OKAY', answer(200, { status: 'OKAY', ...fine }), rejected],
  ['FAILED', answer(200, { status: 'FAILED' }), rejected],
  [
    'TRANSACTION_ROLLED_BACK',
    answer(409, { status: 'TRANSACTION_ROLLED_BACK' }),
    'rolled-back',
    unavailable,
    unavailable,
  ],
  ['TRANSACTION_NOT_FOUND', answer(404, { status: 'TRANSACTION_NOT_FOUND' }), rejected, rejected, success],
  [
    'TRANSACTION_NOT_FOUND 200',
    answer(200, { status: 'TRANSACTION_NOT_FOUND' }),
    rejected,
    rejected,
    success,
  ],
]

function judged(operation: WalletOperation, exchange: WalletExchange): string {
  const judgement = judgeExchange(operation, 'USD', exchange)
  return judgement.kind === 'refused' || judgement.kind === 'unknown'
    ? `${judgement.kind} ${judgement.code}`
    : judgement.kind
}

await t.test('each row of the table for debit, credit and rollback', async (t) => {
  for (const [name, exchange, debit, credit = debit, rollback = debit] of table) {
    t.equal(judged('debit', exchange), debit, `debit: ${name}`)
    t.equal(judged('credit', exchange), credit, `credit: ${name}`)
    t.equal(judged('rollback', exchange), rollback, `rollback: ${name}`)
  }
})

await t.test('a 2xx answer to a debit in a word that the contract does not list says so', async (t) => {
  const isUnlisted = (operation: WalletOperation, status: number, word: string) => {
    const judgement = judgeExchange(operation, 'USD', answer(status, { status: word }))
    return judgement.kind === 'refused' && judgement.isUnlisted === true
  }
  for (const word of ['RS_OK', 'ERROR', 'TRANSACTION_NOT_FOUND', 'insufficient_funds', '0']) {
    t.ok(isUnlisted('debit', 202, word), word)
    t.notOk(isUnlisted('debit', 422, word), `${word} under 422`)
    t.notOk(isUnlisted('credit', 200, word), `${word} to a credit`)
  }
  for (const word of ['INSUFFICIENT_FUNDS', 'KYC_REQUIRED', 'TRANSACTION_CONFLICT', 'CURRENCY_MISMATCH']) {
    t.notOk(isUnlisted('debit', 200, word), word)
  }
})

await t.test("a success carries the balance with all decimals and the wallet's own id", async (t) => {
  t.same(judgeExchange('debit', 'USD', answer(200, { status: 'OK', ...fine, balance: '5' })), {
    kind: 'success',
    walletCode: 'OK',
    walletTransactionId: 'w-1',
    balanceAfter: '5.00',
    unreadable: [],
  })
  for (const [currency, told, balanceAfter] of [
    ['JPY', '5.0', '5'],
    ['USD', '-45.5', '-45.50'],
    ['USD', '10.129', '10.12'],
    ['USD', '1000000000000000.00', '1000000000000000.00'],
    ['USD', 'plenty', null],
  ] as const) {
    const judged = judgeExchange('credit', currency, answer(200, { status: 'OK', balance: told, currency }))
    t.match(judged, { kind: 'success', balanceAfter }, told)
  }
  t.match(judgeExchange('debit', 'BTC', answer(200, { status: 'OK', balance: '0.00000001' })), {
    balanceAfter: '0.00000001',
  })
})

await t.test('what a success says and nobody can read is named', async (t) => {
  const unreadable = (fields: object) => {
    const judged = judgeExchange('debit', 'USD', answer(200, { status: 'OK', ...fields }))
    return judged.kind === 'success' ? judged.unreadable : judged
  }
  t.same(unreadable({}), [], 'nothing is said')
  t.same(unreadable({ balance: null, transactionId: null }), [], 'nor here')
  t.same(unreadable({ balance: '1,000.00', transactionId: 'w-1' }), ['balance'])
  t.same(unreadable({ balance: '', transactionId: 17 }), ['balance'])
  t.same(unreadable({ balance: '1.00', transactionId: { id: 'w-1' } }), ['transactionId'])
  t.same(unreadable({ balance: 'much', transactionId: '' }), ['balance', 'transactionId'])
})

await t.test('a balance is an amount, a refusal or unusable', async (t) => {
  const read = (exchange: WalletExchange) => readBalanceAnswer('USD', exchange)
  t.same(read(answer(200, { status: 'OK', ...fine })), { kind: 'balance', amount: '990.00' })
  t.match(read(answer(403, { status: 'PLAYER_BLOCKED' })), { kind: 'refused' })
  for (const exchange of [
    answer(200, { status: 'OK' }),
    answer(200, { status: 'OK', balance: 1 }),
    answer(500, ''),
  ]) {
    t.match(read(exchange), { kind: 'unusable' })
  }
})

t.test("the wallet's id may be a number, and is kept digit by digit", async (t) => {
  const idOf = (text: string) => {
    const judged = judgeExchange('debit', 'USD', answer(200, text))
    return judged.kind === 'success' ? judged.walletTransactionId : judged
  }
  t.equal(idOf('{"status":"OK","transactionId":1795848134123}'), '1795848134123')
  t.equal(idOf('{"status":"OK","transactionId":90071992547409931234567890}'), '90071992547409931234567890')
  t.equal(idOf('{"status":"OK","meta":{"transactionId":5},"transactionId":"w-1"}'), 'w-1')
  t.equal(idOf('{"status":"OK","meta":{"transactionId":5}}'), null, 'that of something else is none')
  t.equal(idOf('{"status":"OK","transactionId":null}'), null)
})
