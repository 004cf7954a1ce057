import t, { type Test } from 'tap'
import { createWalletApp } from '../../src/sandbox-wallet/create-wallet-app.ts'
import { appendFile } from 'node:fs/promises'
import { type Answered, type Movement, movementBody, postSigned } from '../fixtures/wallet-client.ts'

async function startWallet(t: Test, dataDir = t.testdir()) {
  const app = await createWalletApp({ dataDir, secret: 'wallet-secret', startingBalance: '1000.00', seed: 1 })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return {
    app,
    url,
    send: (operation: 'debit' | 'credit' | 'rollback', movement: Movement): Promise<Answered> =>
      postSigned(`${url}/${operation}`, movementBody(operation, movement)),
    balance: (playerId: string, currency = 'USD'): Promise<Answered> =>
      postSigned(`${url}/balance`, JSON.stringify({ playerId, currency, sessionId: 'ses_1', gameId: 'g' })),
    put: (path: string, body: object): Promise<Response> =>
      fetch(`${url}${path}`, { method: 'PUT', body: JSON.stringify(body) }),
    get: async (path: string): Promise<{ data: Array<Record<string, unknown>>; total?: number }> =>
      JSON.parse(await (await fetch(`${url}${path}`)).text()),
  }
}

await t.test('debit, credit and balance move exact amounts', async (t) => {
  const wallet = await startWallet(t)
  t.match(await wallet.balance('p1'), { http: 200, status: 'OK', balance: '1000.00' })
  t.match(await wallet.send('debit', { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' }), {
    http: 200,
    status: 'OK',
    balance: '990.00',
    transactionId: /^w_/,
  })
  t.match(await wallet.send('credit', { transactionId: 'win_1', playerId: 'p1', amount: '0.01' }), {
    status: 'OK',
    balance: '990.01',
  })
  t.match(await wallet.send('debit', { transactionId: 'bet_2', playerId: 'p1', amount: '990.02' }), {
    http: 402,
    status: 'INSUFFICIENT_FUNDS',
    balance: '990.01',
  })
  t.match(await wallet.balance('p1', 'JPY'), { balance: '1000' })
  t.match(await wallet.balance('p1', 'ETH'), { balance: '1000.000000000000000000' })
})

await t.test('the same transaction is applied once, another body under its id is refused', async (t) => {
  const wallet = await startWallet(t)
  const bet = { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => wallet.send('debit', bet)))
  t.equal(answers.filter(({ status }) => status === 'OK').length, 1)
  t.equal(answers.filter(({ status }) => status === 'DUPLICATE').length, 19)
  t.equal(new Set(answers.map(({ transactionId }) => transactionId)).size, 1)
  t.match(await wallet.send('debit', { ...bet, amount: '11.00' }), {
    http: 409,
    status: 'TRANSACTION_CONFLICT',
  })
  t.match(await wallet.send('credit', bet), { status: 'TRANSACTION_CONFLICT' })
  t.match(await wallet.balance('p1'), { balance: '990.00' })
})

await t.test(
  'a rollback gives back once; an unknown one leaves a tombstone that a late debit meets',
  async (t) => {
    const wallet = await startWallet(t)
    const bet = { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' }
    await wallet.send('debit', bet)
    const back = { ...bet, transactionId: 'rbk_1', referenceTransactionId: 'bet_1' }
    t.match(await wallet.send('rollback', back), { status: 'OK', balance: '1000.00' })
    t.match(await wallet.send('rollback', back), { status: 'DUPLICATE', balance: '1000.00' })
    t.match(await wallet.send('rollback', { ...back, transactionId: 'rbk_2' }), { status: 'DUPLICATE' })
    t.match(await wallet.send('debit', bet), { http: 409, status: 'TRANSACTION_ROLLED_BACK' })

    const late = { ...bet, transactionId: 'bet_late' }
    const unknown = { ...late, transactionId: 'rbk_3', referenceTransactionId: 'bet_late' }
    t.match(await wallet.send('rollback', unknown), { http: 404, status: 'TRANSACTION_NOT_FOUND' })
    t.match(await wallet.send('rollback', unknown), { http: 404, status: 'TRANSACTION_NOT_FOUND' })
    t.match(await wallet.send('debit', late), {
      http: 409,
      status: 'TRANSACTION_ROLLED_BACK',
      balance: '1000.00',
    })
    const { data } = await wallet.get('/sandbox/ledger?transaction_id=bet_late')
    t.match(data, [{ operation: 'rollback', effect: '0.00', status: 'TOMBSTONE' }])
    t.equal(data.length, 1)
  },
)

await t.test('names refuse new stakes but never money that is owed', async (t) => {
  const wallet = await startWallet(t)
  const expected = {
    'blocked-1': 'PLAYER_BLOCKED',
    unknown: 'PLAYER_NOT_FOUND',
    excluded_x: 'SELF_EXCLUDED',
    kyc: 'KYC_REQUIRED',
    limited: 'LIMIT_EXCEEDED',
    mismatch: 'CURRENCY_MISMATCH',
    broke: 'INSUFFICIENT_FUNDS',
  }
  for (const [playerId, status] of Object.entries(expected)) {
    t.match(
      await wallet.send('debit', { transactionId: `bet_${playerId}`, playerId, amount: '1.00' }),
      { status },
      playerId,
    )
    t.match(await wallet.send('credit', { transactionId: `win_${playerId}`, playerId, amount: '1.00' }), {
      status: 'OK',
    })
  }
  t.match(await wallet.send('debit', { transactionId: 'b', playerId: 'blockedness', amount: '1.00' }), {
    status: 'OK',
  })
  await wallet.put('/sandbox/players', {
    players: [{ player_id: 'p9', code: 'KYC_REQUIRED', balances: { USD: '5.00' } }],
  })
  t.match(await wallet.send('debit', { transactionId: 'c', playerId: 'p9', amount: '1.00' }), {
    status: 'KYC_REQUIRED',
  })
  await wallet.put('/sandbox/players', { players: [{ player_id: 'p9', code: null }] })
  t.match(await wallet.send('debit', { transactionId: 'd', playerId: 'p9', amount: '1.00' }), {
    status: 'OK',
    balance: '4.00',
  })
})

await t.test('a refused debit stays refused, over a restart, too', async (t) => {
  const dataDir = t.testdir()
  const wallet = await startWallet(t, dataDir)
  const poor = { transactionId: 'bet_poor', playerId: 'p1', amount: '1000.01' }
  const blocked = { transactionId: 'bet_blocked', playerId: 'blocked', amount: '1.00' }
  const commanded = { transactionId: 'bet_commanded', playerId: 'p1', amount: '1.00' }
  const passing = { transactionId: 'bet_passing', playerId: 'p1', amount: '1.00' }
  await wallet.put('/sandbox/faults', {
    rules: [
      { transaction_id: 'bet_commanded', count: 1, kind: 'refuse', code: 'LIMIT_EXCEEDED' },
      { transaction_id: 'bet_passing', count: 1, kind: 'refuse', code: 'TEMPORARY_ERROR' },
    ],
  })
  for (const bet of [poor, blocked, commanded, passing]) await wallet.send('debit', bet)
  await wallet.put('/sandbox/players', {
    players: [
      { player_id: 'p1', balances: { USD: '5000.00' } },
      { player_id: 'blocked', code: null },
    ],
  })
  const expectRefused = async ({ send }: Pick<typeof wallet, 'send'>) => {
    t.match(await send('debit', poor), { http: 402, status: 'INSUFFICIENT_FUNDS' })
    t.match(await send('debit', blocked), { status: 'PLAYER_BLOCKED' })
    t.match(await send('debit', commanded), { status: 'LIMIT_EXCEEDED' })
  }
  await expectRefused(wallet)
  t.match(await wallet.send('debit', passing), { status: 'OK', balance: '4999.00' })
  await wallet.app.close()
  await expectRefused(await startWallet(t, dataDir))
})

await t.test('calls that are not signed, stale or malformed move nothing', async (t) => {
  const wallet = await startWallet(t)
  const body = movementBody('debit', { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' })
  const late = new Date(Date.now() - 302_000)
  t.match(await postSigned(`${wallet.url}/debit`, body, { secret: 'wrong' }), {
    http: 401,
    status: 'INVALID_SIGNATURE',
  })
  t.match(await postSigned(`${wallet.url}/debit`, body, { at: late }), {
    http: 401,
    status: 'INVALID_SIGNATURE',
  })
  t.match(await postSigned(`${wallet.url}/debit`, '{'), { http: 422, status: 'INVALID_REQUEST' })
  for (const amount of ['1.001', '-1', '1e2', '']) {
    t.match(
      await wallet.send('debit', { transactionId: 'x', playerId: 'p1', amount }),
      { http: 422, status: 'INVALID_REQUEST' },
      amount,
    )
  }
  t.match(await postSigned(`${wallet.url}/debit`, body.replace('"10.00"', '10')), {
    status: 'INVALID_REQUEST',
  })
  t.match(await wallet.send('debit', { transactionId: 'x', playerId: 'p1', amount: '1', currency: 'XXX' }), {
    status: 'CURRENCY_MISMATCH',
  })
  t.match(await wallet.balance('p1'), { balance: '1000.00' })
})

await t.test('a restart forgets nothing, a torn last line is cut off', async (t) => {
  const dataDir = t.testdir({ 'wallet-ledger.jsonl': '' })
  const before = await startWallet(t, dataDir)
  await before.send('debit', { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' })
  await before.send('rollback', {
    transactionId: 'rbk_1',
    referenceTransactionId: 'bet_2',
    playerId: 'p1',
    amount: '1.00',
  })
  await before.put('/sandbox/players', { players: [{ player_id: 'p2', code: 'PLAYER_BLOCKED' }] })
  await before.app.close()
  await appendFile(`${dataDir}/wallet-ledger.jsonl`, '{"at":"2026-')

  const after = await startWallet(t, dataDir)
  t.match(await after.balance('p1'), { balance: '990.00' })
  t.match(await after.send('debit', { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' }), {
    status: 'DUPLICATE',
  })
  t.match(await after.send('debit', { transactionId: 'bet_2', playerId: 'p1', amount: '1.00' }), {
    status: 'TRANSACTION_ROLLED_BACK',
  })
  t.match(await after.balance('p2'), { status: 'PLAYER_BLOCKED' })
  await after.app.close()
  const third = await startWallet(t, dataDir)
  t.match(await third.balance('p1'), { balance: '990.00' })
})

await t.test('faults happen by rule, before or after applying, and are counted', async (t) => {
  const wallet = await startWallet(t)
  const rules = [
    { operation: 'debit', player_id: 'p1', nth: 1, kind: 'drop', apply: true },
    { operation: 'debit', player_id: 'p1', nth: 2, kind: 'http_error', http_status: 503 },
    { operation: 'credit', count: 1, kind: 'refuse', code: 'PLAYER_BLOCKED' },
    { operation: 'rollback', kind: 'rubbish' },
    { operation: 'balance', count: 1, kind: 'number_balance' },
  ]
  t.equal((await wallet.put('/sandbox/faults', { seed: 7, rules })).status, 200)
  const bet = { transactionId: 'bet_1', playerId: 'p1', amount: '10.00' }
  await t.rejects(wallet.send('debit', bet), 'the socket is closed')
  t.match(await wallet.send('debit', { ...bet, transactionId: 'bet_2' }), { http: 503 })
  t.match(await wallet.send('debit', bet), { status: 'DUPLICATE', balance: '990.00' })
  t.match(await wallet.send('debit', { ...bet, transactionId: 'bet_2' }), { status: 'OK', balance: '980.00' })
  t.match(await wallet.send('credit', { ...bet, transactionId: 'win_1' }), {
    http: 400,
    status: 'PLAYER_BLOCKED',
  })
  t.match(await wallet.send('credit', { ...bet, transactionId: 'win_1' }), {
    status: 'OK',
    balance: '990.00',
  })
  t.match(await wallet.balance('p1'), { balance: 12.5 })
  const faults = JSON.parse(await (await fetch(`${wallet.url}/sandbox/faults`)).text())
  t.match(faults, {
    seed: 7,
    rules: [{ matched: 4, fired: 1 }, { fired: 1 }, { matched: 2, fired: 1 }, { fired: 0 }],
  })
  const calls = await wallet.get('/sandbox/calls?operation=debit')
  t.match(
    calls.data.map(({ fault }) => fault),
    ['drop', 'http_error', null, null],
  )
  t.equal((await wallet.put('/sandbox/faults', { rules: [{ kind: 'explode' }] })).status, 422)
})

await t.test('faults by probability are the same for the same seed', async (t) => {
  const runs: unknown[][] = []
  for (const seed of [5, 5, 6]) {
    const wallet = await startWallet(t)
    await wallet.put('/sandbox/faults', { seed, rules: [{ probability: 0.5, kind: 'http_error' }] })
    const statuses: unknown[] = []
    for (let call = 0; call < 30; call++) statuses.push((await wallet.balance('p1')).http)
    runs.push(statuses)
  }
  t.same(runs[0], runs[1])
  t.notSame(runs[0], runs[2])
})
