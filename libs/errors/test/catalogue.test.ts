import { readFileSync } from 'node:fs'
import t from 'tap'
import { errorCatalogue, isErrorCode } from '../src/catalogue.ts'

/** The table of docs/contract.md, section 1: code, status, retryable. */
const table = `
UNAUTHORIZED | 401 | no
INVALID_CREDENTIALS | 401 | no
TOKEN_EXPIRED | 401 | no
INVALID_SIGNATURE | 401 | no
IP_NOT_ALLOWED | 403 | no
FORBIDDEN | 403 | no
INSUFFICIENT_SCOPE | 403 | no
OPERATOR_SUSPENDED | 403 | no
OPERATOR_NOT_LIVE | 403 | no
REAL_MONEY_DISABLED | 403 | no
BRAND_NOT_FOUND | 404 | no
PLAYER_BLOCKED | 403 | no
VALIDATION_ERROR | 422 | no
CURRENCY_NOT_SUPPORTED | 422 | no
CURRENCY_MISMATCH | 422 | no
INSUFFICIENT_FUNDS | 402 | no
BET_LIMIT_EXCEEDED | 422 | no
TRANSACTION_CONFLICT | 409 | no
TRANSACTION_NOT_FOUND | 404 | no
TRANSACTION_ALREADY_REVERSED | 409 | no
WALLET_TIMEOUT | 504 | yes
WALLET_UNAVAILABLE | 503 | yes
WALLET_REJECTED | 502 | no
WALLET_NOT_CONFIGURED | 503 | no
GAME_NOT_FOUND | 404 | no
GAME_NOT_ENABLED | 403 | no
GAME_UNAVAILABLE | 503 | no
SESSION_NOT_FOUND | 404 | no
SESSION_EXPIRED | 410 | no
SESSION_CLOSED | 410 | no
ROUND_NOT_FOUND | 404 | no
ROUND_IN_PROGRESS | 409 | no
ROUND_ALREADY_SETTLED | 409 | no
RATE_LIMITED | 429 | yes
NOT_FOUND | 404 | no
CONFLICT | 409 | no
APPROVAL_NEEDED | 409 | no
INTERNAL_ERROR | 500 | yes
SERVICE_UNAVAILABLE | 503 | yes
`

const specified = table
  .trim()
  .split('\n')
  .map((line) => line.split(' | '))

t.test('the catalogue is the table above, no code more and none less', (t) => {
  t.equal(specified.length, 39)
  const rows = Object.entries(errorCatalogue).map(([code, { status, retryable }]) => [
    code,
    String(status),
    retryable ? 'yes' : 'no',
  ])
  t.strictSame(rows, specified)
  t.end()
})

t.test('the page of the contract has each code with its status, no code more and none less', (t) => {
  const page = readFileSync(new URL('../../../docs/contract.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \| ([0-9]{3})(, \*\*retryable\*\*)? \|/gm)
  const described = [...rows].flatMap(([, codes = '', status = '', retryable]) =>
    codes
      .split(', ')
      .map((code) => `${code.slice(1, -1)} ${status} ${retryable === undefined ? 'no' : 'yes'}`),
  )
  const listed = specified.map((row) => row.join(' '))
  t.strictSame(new Set(described), new Set(listed))
  t.equal(described.length, listed.length)
  t.end()
})

t.test('each code says what is wrong and what to do', (t) => {
  for (const [code, { message, remedy }] of Object.entries(errorCatalogue)) {
    t.match(message, /^[A-Z].*\.$/, code)
    t.match(remedy, /^[A-Z].*\.$/, code)
  }
  t.end()
})

t.test('nothing else is a code', (t) => {
  t.ok(isErrorCode('CONFLICT'))
  for (const text of ['conflict', '', 'toString', '__proto__', 'TEAPOT']) t.notOk(isErrorCode(text), text)
  t.end()
})
