import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import t, { type Test } from 'tap'
import { certifyWallet } from '../../src/certify/certify-wallet.ts'
import { createWalletApp } from '../../src/sandbox-wallet/create-wallet-app.ts'
import { type Rewrite, rewritten, startRewritingWallet } from '../fixtures/rewriting-wallet.ts'
import { startWrongWallet, type WalletBug } from '../fixtures/wrong-wallet.ts'

function certify(url: string, currency = 'USD', timeoutMs = 5000) {
  return certifyWallet({
    ...{ url, currency, secret: 'wallet-secret', playerId: 'certified', timeoutMs },
    ...{ blockedPlayerId: 'blocked', unknownPlayerId: 'unknown' },
  })
}

async function failedCases(url: string, currency = 'USD'): Promise<{ failed: string[]; passed: number }> {
  const report = await certify(url, currency)
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
      ['balance-as-number', ['player-ready']],
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

await t.test('nobody at home fails once, in one sentence', async (t) => {
  const { cases, passed, certified, reason } = await certify('http://127.0.0.1:9')
  t.match(
    { passed, certified, reason },
    {
      ...{ passed: 0, certified: false },
      reason: 'The wallet does not answer: connection refused.',
    },
  )
  t.match(cases, [{ id: 'http-answer', message: 'connection refused', hint: /that the server runs/ }])
})

await t.test('a wallet that dies on the way ends its certification in one sentence', async (t) => {
  const { url, die } = await startRewritingWallet(t, await startSandbox(t), ({ body }) => {
    if (body.includes('"amount":2,')) die()
    return {}
  })
  const { cases, certified, reason } = await certify(url)
  t.match(cases.at(-1), {
    id: 'amount-number',
    outcome: 'failed',
    message: /^debit: connection (closed|reset|refused)/,
  })
  t.same(cases.filter(({ outcome }) => outcome === 'failed').length, 1)
  t.match(
    { certified, reason },
    {
      certified: false,
      reason:
        /^The wallet has not answered any more since the case amount-number: connection (refused|reset)\. Start it/,
    },
  )
})

const json =
  (change: object) =>
  ({ text }: { text: string }) =>
    rewritten({ body: JSON.stringify({ ...JSON.parse(text), ...change }) })
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'

/** What is wrong with a wallet, the case that says so, and its words: the fault, then the remedy. */
const faults: Array<[what: string, id: string, message: RegExp, remedy: RegExp, Rewrite]> = [
  [
    'bodies never end',
    'http-answer',
    /HTTP 200 came, and its body did not end$/,
    /end the answer/,
    ({ text }) => rewritten({ headers: { 'content-length': '9999' }, body: text }),
  ],
  [
    'the connection closes in the body',
    'http-answer',
    /closed before the answer|reset|length/,
    /proxy|Content-Length/,
    ({ text }) => ({
      ...rewritten({ headers: { 'content-length': '9999' }, body: text }),
      closes: true,
    }),
  ],
  [
    'two lengths',
    'http-answer',
    /length twice, and differently$/,
    /one Content-Length/,
    ({ text }) =>
      rewritten({
        headers: { 'content-length': `${Buffer.byteLength(text)}\r\ncontent-length: 3` },
        body: text,
      }),
  ],
  ['no HTTP', 'http-answer', /is not HTTP$/, /HTTP\/1\.1/, () => ({ parts: ['220 ESMTP\r\n'] })],
  [
    'a bomb',
    'http-answer',
    /exceeds 64 KiB$/,
    /few fields/,
    () =>
      rewritten({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(16 * 1024 * 1024)) }),
  ],
  [
    'a redirect',
    'answer-json',
    /the body is empty$/,
    /not followed/,
    () => rewritten({ status: 307, body: '' }),
  ],
  ['HTML', 'answer-json', /not JSON$/, /JSON object in UTF-8/, () => rewritten({ body: '<html>' })],
  [
    'UTF-16',
    'answer-json',
    /not UTF-8/,
    /UTF-8/,
    ({ text }) => rewritten({ body: Buffer.from(`\ufeff${text}`, 'utf16le') }),
  ],
  [
    'Latin-1',
    'answer-json',
    /not UTF-8, with the content-type .*iso-8859-1$/,
    /UTF-8/,
    ({ text }) =>
      rewritten({
        headers: { 'content-type': 'application/json; charset=iso-8859-1' },
        body: Buffer.from(text.replace('{', '{"name":"Zoë",'), 'latin1'),
      }),
  ],
  [
    'a field twice',
    'answer-json',
    /a field twice$/,
    /each field once/,
    ({ text }) => rewritten({ body: text.replace('{', '{"status":"OK",') }),
  ],
  ['SUCCESS', 'word-balance', /status SUCCESS$/, /^SUCCESS is no clear answer/, json({ status: 'SUCCESS' })],
  ['ok in small letters', 'word-balance', /status ok$/, /^ok is no clear answer/, json({ status: 'ok' })],
  [
    'movements are only ACCEPTED',
    'words-success',
    /^debit: .*status ACCEPTED$/,
    /^ACCEPTED is no clear/,
    (call) => (call.path === '/debit' && call.status === 200 ? json({ status: 'ACCEPTED' })(call) : {}),
  ],
  [
    'refusals say PENDING',
    'words-refusal',
    /status PENDING$/,
    /^PENDING is no clear/,
    (call) => (call.path === '/debit' && call.status !== 200 ? json({ status: 'PENDING' })(call) : {}),
  ],
  [
    'refusals are 409 with a word of its own',
    'words-refusal',
    /HTTP 409 with status NO$/,
    /^HTTP 409 is no clear answer/,
    ({ path, status }) =>
      path === '/debit' && status !== 200 ? rewritten({ status: 409, body: '{"status":"NO"}' }) : {},
  ],
  [
    'ids that cannot be read',
    'debit-exact',
    /transactionId must be text/,
    /minor units/,
    (call) => (call.path === '/debit' ? json({ transactionId: { id: 1 } })(call) : {}),
  ],
]

await t.test('what no client can read fails a case that names the fault and the remedy', async (t) => {
  await Promise.all(
    faults.map(async ([what, id, message, remedy, rewrite]) => {
      const { url } = await startRewritingWallet(t, await startSandbox(t), rewrite)
      const report = await certify(url, 'USD', id === 'http-answer' ? 1500 : 5000)
      const one = report.cases.find((result) => result.id === id)
      t.match(one, { outcome: 'failed', message, hint: remedy }, what)
      t.equal(report.certified, false)
    }),
  )
})

const notes: Array<[what: string, id: string, note: RegExp, Rewrite]> = [
  [
    '100 Continue',
    'http-interim',
    /nobody asked/,
    ({ text, status }) => ({
      parts: [goOn, goOn, ...(rewritten({ status, body: text }).parts ?? [])],
    }),
  ],
  [
    'both lengths',
    'http-length',
    /both Content-Length and/,
    ({ text, status }) => ({
      parts: [
        `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n`,
        `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`,
      ],
    }),
  ],
  [
    'one length twice',
    'http-length',
    /several times/,
    ({ text, status }) =>
      rewritten({
        status,
        headers: {
          'content-length': `${Buffer.byteLength(text)}\r\ncontent-length: ${Buffer.byteLength(text)}`,
        },
        body: text,
      }),
  ],
  [
    'gzip',
    'http-encoding',
    /is encoded/,
    ({ text, status }) =>
      rewritten({ status, headers: { 'content-encoding': 'gzip' }, body: gzipSync(text) }),
  ],
  [
    'a byte order mark',
    'answer-json',
    /byte order mark/,
    ({ text, status }) => rewritten({ status, body: `\ufeff${text}` }),
  ],
  [
    'another charset that is named',
    'answer-json',
    /charset=windows-1252/,
    ({ text, status }) =>
      rewritten({
        status,
        headers: { 'content-type': 'application/json; charset=windows-1252' },
        body: text,
      }),
  ],
  [
    'ids that are numbers',
    'debit-own-id',
    /digit by digit/,
    ({ text, status }) =>
      rewritten({
        status,
        body: text.replace(/"transactionId":"([^"]*)"/, (_, id) => `"transactionId":${numberOf(id)}`),
      }),
  ],
  [
    'a word of its own for what is malformed',
    'words-refusal',
    /word of your own/,
    ({ text, status }) =>
      text.includes('INVALID_REQUEST')
        ? rewritten({ body: '{"status":"MALFORMED"}' })
        : rewritten({ status, body: text }),
  ],
  [
    '409 for repeats',
    'words-success',
    /^$/,
    ({ text, status }) => rewritten({ status: text.includes('"DUPLICATE"') ? 409 : status, body: text }),
  ],
]

/** A number beyond those that are exact, the same for the same id. */
function numberOf(id: string): string {
  return `9${BigInt(`0x${createHash('sha256').update(id).digest('hex').slice(0, 14)}`)}`
}

await t.test(
  'what is odd and taken all the same passes with a note, and everything else passes',
  async (t) => {
    await Promise.all(
      notes.map(async ([what, id, note, rewrite]) => {
        const { url } = await startRewritingWallet(t, await startSandbox(t), rewrite)
        const report = await certify(url)
        t.same(
          report.cases.filter(({ outcome }) => outcome !== 'passed'),
          [],
          what,
        )
        t.match(report.cases.find((result) => result.id === id)?.message ?? '', note, what)
        t.equal(
          report.cases.filter(({ message }) => message !== null).length,
          note.test('') ? 0 : 1,
          `${what}: one note`,
        )
      }),
    )
  },
)
