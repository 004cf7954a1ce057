import { createServer } from 'node:http'
import { checkWallet, getWallet, putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import { playerBalance, walletCallback, walletStatus } from '@pitboss/contracts/calls/wallet'
import { callerIn } from '@pitboss/testing/sample-caller'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import t, { type Test } from 'tap'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment({ timeScale: 60 }))
t.teardown(() => bridge.stop())
const wallet = await startSandboxWallet(t, 'not yet known')

const put = (scope: Scope, environment: 'TEST' | 'LIVE', url: string) =>
  suite.bus.call(putWallet.call, {
    caller: callerIn(callerOf(scope), environment),
    params: { environment },
    query: {},
    body: { url, timeout_ms: 1000, settle_losses: 'none' },
  })
const route = (scope: Scope, environment: 'TEST' | 'LIVE') => ({
  caller: callerIn(callerOf(scope), environment),
  params: { environment },
  query: {},
  body: undefined,
})

const rotate = (scope: Scope, overlap_s: number) =>
  suite.bus.call(rotateWalletSecret.call, { ...route(scope, 'TEST'), body: { overlap_s } })

async function startRawWallet(
  t: Test,
  answer: (path: string, body: string) => { status: number; body: unknown },
) {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { status, body } = answer(request.url ?? '', text)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

await t.test('the secret is shown only at creation and rotation, and a change keeps it', async (t) => {
  const scope = newScope()
  await t.rejects(suite.bus.call(getWallet.call, route(scope, 'TEST')), { code: 'NOT_FOUND' })
  const created = await put(scope, 'TEST', wallet.url)
  t.equal(created.status, 201)
  t.match(created.body.secret, /^wsec_[0-9A-Za-z]{32}$/)
  const changed = await put(scope, 'TEST', wallet.url)
  t.equal(changed.status, 200)
  t.equal(changed.body.secret, undefined)
  const shown = await suite.bus.call(getWallet.call, route(scope, 'TEST'))
  t.match(shown.body, { environment: 'TEST', url: wallet.url, timeout_ms: 1000, settle_losses: 'none' })
  t.equal(shown.body.secret, undefined)
  const rotated = await rotate(scope, 0)
  t.match(rotated.body.secret, /^wsec_[0-9A-Za-z]{32}$/)
  t.not(rotated.body.secret, created.body.secret)
  await wallet.setSecret(rotated.body.secret ?? '')
  const { movement } = await clientOf(suite.bus, scope).place(specOf())
  t.equal(movement.status, 'SUCCESS', 'the next call is signed with the new secret')
})

await t.test(
  'while a rotation overlaps calls carry two signatures, and callbacks may have either',
  async (t) => {
    const scope = newScope()
    const former = await configureWallet(suite.bus, scope, wallet.url)
    await wallet.setSecret(former)
    const until = Date.now() + 3_600_000
    const { body } = await rotate(scope, 3600)
    t.ok(Math.abs(Date.parse(body.previous_valid_until ?? '') - until) < 60_000)
    const client = clientOf(suite.bus, scope)
    t.match(
      await client.place(specOf()),
      { movement: { status: 'SUCCESS' } },
      'the wallet has the former one',
    )
    await wallet.setSecret(body.secret ?? '')
    const spec = specOf()
    t.match(await client.place(spec), { movement: { status: 'SUCCESS' } }, 'it has the new one')
    for (const secret of [former, body.secret ?? '']) {
      const rawBody = Buffer.from(JSON.stringify({ transactionId: spec.transactionId, status: 'UNKNOWN' }))
      const timestamp = signatureTimestamp(new Date())
      const signature = signBody(secret, timestamp, rawBody)
      const operator = `op_${scope.operatorId.replaceAll('-', '')}`
      const given = {
        operator,
        environment: 'TEST',
        rawBody: rawBody.toString('base64'),
        timestamp,
        signature,
      }
      t.equal(await suite.bus.call(walletCallback, given), null)
    }
    const last = await rotate(scope, 0)
    t.equal(last.body.previous_valid_until, null)
    t.match(
      await client.place(specOf()),
      { movement: { status: 'FAILED' } },
      'without overlap both have ended',
    )
    const names = body.secret === undefined ? [] : [former, body.secret]
    const stored = JSON.stringify(await suite.storage.db.collection('wallets').find({}).toArray())
    t.notOk(
      names.some((secret) => stored.includes(secret)),
      'no secret is stored in clear',
    )
  },
)

await t.test('the wallets of test and live are separate', async (t) => {
  const sandbox = newScope()
  const live = { ...sandbox, environment: 'LIVE' } as const
  await configureWallet(suite.bus, sandbox, wallet.url)
  await t.rejects(clientOf(suite.bus, live).place(specOf()), { code: 'WALLET_NOT_CONFIGURED' })
  await t.rejects(suite.bus.call(getWallet.call, route(sandbox, 'LIVE')), { code: 'NOT_FOUND' })
  t.same(await suite.bus.call(walletStatus, { scope: live }), {
    configured: false,
    breakerOpen: false,
  })
  t.same(await suite.bus.call(walletStatus, { scope: sandbox }), {
    configured: true,
    breakerOpen: false,
    settleLosses: 'none',
  })
})

await t.test('a forbidden wallet url is refused with its path', async (t) => {
  for (const url of [
    'http://10.0.0.1/',
    'https://169.254.169.254/',
    'https://user@example.com/',
    `${wallet.url}/?a=1`,
  ]) {
    await t.rejects(
      put(newScope(), 'TEST', url),
      { code: 'VALIDATION_ERROR', details: [{ path: 'url' }] },
      url,
    )
  }
  await t.rejects(put(newScope(), 'LIVE', 'http://example.com/'), { code: 'VALIDATION_ERROR' })
})

await t.test('a correct wallet passes the check, which moves no money', async (t) => {
  const scope = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url))
  const before = (await wallet.ledger({})).filter(({ operation }) => operation !== 'adjustment').length
  const { body } = await suite.bus.call(checkWallet.call, route(scope, 'TEST'))
  t.same(
    body.checks.filter(({ ok }) => !ok),
    [],
  )
  t.equal(body.ok, true)
  t.equal(body.checks.length, 9)
  const effects = (await wallet.ledger({}))
    .filter(({ operation }) => operation !== 'adjustment')
    .slice(before)
  t.ok(effects.every(({ effect }) => Number.parseFloat(effect) === 0))
})

await t.test('the check describes each fault in words', async (t) => {
  const failing = async (answer: Parameters<typeof startRawWallet>[1]) => {
    const scope = newScope()
    await configureWallet(suite.bus, scope, await startRawWallet(t, answer))
    const { body } = await suite.bus.call(checkWallet.call, route(scope, 'TEST'))
    t.ok(body.checks.every(({ ok, hint }) => ok === (hint === null)))
    return body.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  }
  t.same(await failing(() => ({ status: 200, body: { status: 'OK', balance: '1.00', currency: 'USD' } })), [
    'bad_signature_refused',
    'old_timestamp_refused',
  ])
  t.same(await failing(() => ({ status: 401, body: { status: 'INVALID_SIGNATURE' } })), [
    'signature_accepted',
    'balance_type',
    'idempotency',
  ])
  t.ok(
    (await failing(() => ({ status: 200, body: { status: 'OK', balance: 1, currency: 'USD' } }))).includes(
      'balance_type',
    ),
  )
  t.ok((await failing(() => ({ status: 200, body: ['hello'] }))).includes('answer_shape'))
  const unreadable = { status: 'OK', balance: '1.00', currency: 'USD', transactionId: {} }
  t.ok((await failing(() => ({ status: 200, body: unreadable }))).includes('fields_readable'))
  const nobody = newScope()
  await configureWallet(suite.bus, nobody, 'http://127.0.0.1:9')
  const { body } = await suite.bus.call(checkWallet.call, route(nobody, 'TEST'))
  t.match(body, { ok: false, checks: [{ name: 'reachable', ok: false, actual: 'connection refused' }] })
})

await t.test('a balance is the answer of the wallet, or null', async (t) => {
  const scope = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url))
  const ask = (playerId: string) =>
    suite.bus.call(playerBalance, {
      scope,
      playerId,
      currency: 'USD',
      sessionId: newId('ses'),
      walletGameId: specOf().walletGameId,
    })
  t.same(await ask('carol'), { balance: { amount: '1000.00', currency: 'USD' } })
  t.same(await ask('blocked'), { balance: null })
  await wallet.setFaults([{ operation: 'balance', kind: 'number_balance' }])
  t.same(await ask('carol'), { balance: null })
  await wallet.clearFaults()
})

await t.test('a lost round is credited with zero only when the wallet asks for it', async (t) => {
  const quiet = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, quiet, wallet.url))
  const lost = specOf({ type: 'WIN', amount: '0.00' })
  const recorded = await clientOf(suite.bus, quiet).place(lost)
  t.match(recorded, {
    movement: { status: 'SUCCESS', amount: '0.00' },
    outcome: { kind: 'done' },
    created: true,
  })
  t.equal((await clientOf(suite.bus, quiet).place(lost)).created, false)
  t.same(await wallet.calls({ transaction_id: lost.transactionId }), [])

  const told = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, told, wallet.url, { settle_losses: 'zero_credit' }))
  const zero = specOf({ type: 'WIN', amount: '0' })
  t.match(await clientOf(suite.bus, told).place(zero), { movement: { status: 'SUCCESS', amount: '0.00' } })
  t.match(await wallet.calls({ transaction_id: zero.transactionId }), [{ operation: 'credit' }])
})

await t.test("a game's stake says how the wallet took losses when it was placed", async (t) => {
  const { scope, client, wallet } = await openWallet(t, suite.bus, { settle_losses: 'zero_credit' })
  const stake = specOf()
  t.match(await client.place(stake), { settleLosses: 'zero_credit' })
  const driven = await client.place(specOf({ driver: 'operator' }))
  t.notOk(driven.settleLosses, "the win of such a round is the operator's to ask for")
  await put(scope, 'TEST', wallet.url)
  t.match(await client.show(stake.transactionId), { settleLosses: 'zero_credit' })
  t.match(await client.void(stake), { settleLosses: 'zero_credit' }, 'also where it is to be given back')
  t.notOk((await client.place(specOf())).settleLosses)
})

await t.test('an amount that the currency cannot have is refused before anything is written', async (t) => {
  const scope = newScope()
  await configureWallet(suite.bus, scope, wallet.url)
  const client = clientOf(suite.bus, scope)
  const spec = specOf({ amount: '1.5', currency: 'JPY' })
  await t.rejects(client.place(spec), { code: 'VALIDATION_ERROR', details: [{ path: 'amount' }] })
  t.equal(await client.show(spec.transactionId), null)
})
