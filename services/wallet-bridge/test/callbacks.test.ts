import { randomUUID } from 'node:crypto'
import { walletCallback } from '@pitboss/contracts/calls/wallet'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment())
t.teardown(() => bridge.stop())
const { wallet, scope, client, secret } = await openWallet(t, suite.bus)
const operator = `op_${scope.operatorId.replaceAll('-', '')}`

type Change = {
  operator?: string
  environment?: string
  timestamp?: string | null
  signature?: string | null
  secret?: string
}

function send(body: unknown, change: Change = {}) {
  const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const timestamp = change.timestamp === undefined ? signatureTimestamp(new Date()) : change.timestamp
  return suite.bus.call(walletCallback, {
    operator: change.operator ?? operator,
    environment: change.environment ?? 'TEST',
    rawBody: rawBody.toString('base64'),
    timestamp,
    signature:
      change.signature === undefined
        ? signBody(change.secret ?? secret, timestamp ?? '', rawBody)
        : change.signature,
  })
}
const seconds = (offset: number) => signatureTimestamp(new Date(Date.now() + offset * 1000))
const hint = (transactionId: string) => ({ transactionId, status: 'SUCCESS' })

await t.test('a signed hint makes a pending movement due at once, and the wallet is asked', async (t) => {
  const spec = specOf({ type: 'WIN', playerId: 'hinted' })
  await wallet.setFaults([{ operation: 'credit', player_id: 'hinted', kind: 'drop', count: 4 }])
  await client.place(spec)
  await waitFor(
    async () => {
      return (await wallet.calls({ transaction_id: spec.transactionId })).length === 4
    },
    { what: 'the retry schedule has come to long waits' },
  )
  const body = hint(spec.transactionId)
  t.equal(await send(body), null)
  await waitFor(async () => (await client.show(spec.transactionId))?.movement.status === 'SUCCESS', {
    what: 'the win is credited',
    timeoutMs: 3000,
  })
  t.equal(await send({ ...body, status: 'FAILED' }), null, 'a hint about a final movement changes nothing')
  t.equal((await client.show(spec.transactionId))?.movement.status, 'SUCCESS')
})

await t.test('each signature counts once, also when many copies race', async (t) => {
  const { movement } = await client.place(specOf())
  const timestamp = seconds(-1)
  const copies = await Promise.allSettled(
    Array.from({ length: 10 }, () => send(hint(movement.transaction_id), { timestamp })),
  )
  t.equal(copies.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const copy of copies) {
    if (copy.status === 'rejected') t.match(copy.reason, { code: 'INVALID_SIGNATURE' })
  }
})

await t.test(
  'every fault of the signature is INVALID_SIGNATURE, for every operator and movement',
  async (t) => {
    const { movement } = await client.place(specOf())
    const body = hint(movement.transaction_id)
    const good = signBody(secret, seconds(0), JSON.stringify(body))
    const wrong: [string, Change, unknown?][] = [
      ['no signature', { signature: null }],
      ['no timestamp', { timestamp: null }],
      ['another secret', { secret: `${secret}x` }],
      ['another body', { signature: good }, { ...body, status: 'FAILED' }],
      ['upper case', { timestamp: seconds(0), signature: good.toUpperCase() }],
      ['too short', { signature: good.slice(0, 62) }],
      ['too long', { signature: `${good}00` }],
      ['with a version prefix', { signature: `v1=${good}` }],
      ['not hex', { signature: 'z'.repeat(64) }],
      ['too old', { timestamp: seconds(-302) }],
      ['too new', { timestamp: seconds(302) }],
      ['milliseconds', { timestamp: String(Date.now()) }],
      ['no number', { timestamp: 'yesterday' }],
      ['an unknown operator', { operator: `op_${randomUUID().replaceAll('-', '')}` }],
      ['a uuid with dashes', { operator: scope.operatorId }],
      ['no operator', { operator: 'op_' }],
      ['the other environment', { environment: 'LIVE' }],
      ['no environment', { environment: 'SANDBOX' }],
      ['a bad body too', { secret: 'x' }, '{'],
    ]
    for (const [name, change, sent = body] of wrong) {
      await t.rejects(send(sent, change), { code: 'INVALID_SIGNATURE' }, name)
    }
  },
)

await t.test('a timestamp at either end of the window is accepted', async (t) => {
  const { movement } = await client.place(specOf())
  t.equal(await send(hint(movement.transaction_id), { timestamp: seconds(-298) }), null)
  t.equal(await send(hint(movement.transaction_id), { timestamp: seconds(298) }), null)
})

await t.test('the body and the movement are checked after the signature', async (t) => {
  for (const body of [
    '{',
    '[]',
    '{"transactionId":"a","transactionId":"b","status":"SUCCESS"}',
    {},
    { transactionId: 'a' },
    { ...hint('a'), more: 1 },
    { transactionId: 'a b', status: 'SUCCESS' },
    { transactionId: 'a', status: 'OK' },
  ]) {
    await t.rejects(send(body), { code: 'VALIDATION_ERROR' }, JSON.stringify(body))
  }
  const details = [{ path: 'more', message: 'is not a known field: there are transactionId, status' }]
  const refusal = await send({ ...hint('a'), more: 2 }).catch((error: unknown) => error)
  t.match(refusal, { code: 'VALIDATION_ERROR', details }, 'the known fields are named')
  await t.rejects(send(hint('bet_unknown')), { code: 'TRANSACTION_NOT_FOUND' })
})
