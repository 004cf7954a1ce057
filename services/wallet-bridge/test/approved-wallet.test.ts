import { doApproved } from '@pitboss/contracts/calls/approvals'
import { getWallet, putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import { newId } from '@pitboss/runtime/new-id'
import { callerIn } from '@pitboss/testing/sample-caller'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { pino } from 'pino'
import t from 'tap'
import { callerOf, newScope, startBridge, startSuite } from './fixtures/bridge.ts'

const logger = pino({ level: 'silent' })
const suite = await startSuite(t)
const bridge = await startBridge(suite.environment())
t.teardown(() => bridge.stop())
const approvals = await serveApprovals(t, suite.bus, logger)
const log = await serveAuditLog(t, suite.bus, logger)
const first = 'http://127.0.0.1:9/first'
const second = 'http://127.0.0.1:9/second'

/** An account whose wallets, TEST and LIVE, stand at the first address. */
async function newAccount() {
  const caller = callerOf(newScope())
  const at = (environment: 'TEST' | 'LIVE') => ({
    caller: callerIn(caller, environment),
    params: { environment },
    query: {},
  })
  const put = (environment: 'TEST' | 'LIVE', url: string, timeout_ms = 1000) =>
    suite.bus.call(putWallet.call, {
      ...at(environment),
      body: { url, timeout_ms, settle_losses: 'none', same_ledger: true },
    })
  const urlOf = async (environment: 'TEST' | 'LIVE') =>
    (await suite.bus.call(getWallet.call, { ...at(environment), body: undefined })).body.url
  const rotate = () => suite.bus.call(rotateWalletSecret.call, { ...at('LIVE'), body: { overlap_s: 0 } })
  approvals.isWanted = true
  const asked = approvals.asked.length
  await put('TEST', first)
  await put('LIVE', first)
  t.equal(approvals.asked.length, asked, 'a first wallet asks nobody')
  return { put, urlOf, rotate }
}

/** What auth sends when the act that was asked last is approved. */
function approved() {
  const asked = approvals.asked.at(-1)
  if (asked?.order.act !== 'wallet.put') throw new Error('nobody has asked about a wallet')
  const approval = { approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' }
  const { order, seen, by } = asked
  const given = { order, seen, by: { ...by, approval } }
  approvals.give(given)
  return given
}

await t.test('another address of the LIVE wallet waits for a second person, and is taken once', async (t) => {
  const { put, urlOf } = await newAccount()
  await put('TEST', second)
  await put('LIVE', first, 2000)
  t.equal(await urlOf('TEST'), second, 'TEST, and other settings, ask nobody')
  await t.rejects(put('LIVE', second, 3000), { code: 'APPROVAL_NEEDED' })
  t.equal(await urlOf('LIVE'), first, 'nothing was done')
  t.match(approvals.asked.at(-1), {
    object: { type: 'wallet', id: 'LIVE' },
    before: { url: first, timeout_ms: 2000 },
    after: { url: second, timeout_ms: 3000, same_ledger: true },
  })
  const request = approved()
  const thiefs = {
    ...request.order,
    settings: { ...request.order.settings, url: 'http://127.0.0.1:9/thief' },
  }
  const made = { ...request.by, approval: { ...request.by.approval, approval_id: newId('apr') } }
  for (const forged of [
    { ...request, order: thiefs },
    { ...request, by: made },
    { ...request, seen: '3' },
  ])
    await t.rejects(suite.bus.call(doApproved.wallet, forged), { code: 'FORBIDDEN' }, 'nobody approved that')
  t.equal(await urlOf('LIVE'), first)
  const answers = await Promise.all([1, 2, 3].map(() => suite.bus.call(doApproved.wallet, request)))
  t.same(answers, [{ result: 'done' }, { result: 'done' }, { result: 'done' }])
  t.equal(await urlOf('LIVE'), second)
  const ofApproval = log.filter(({ approval }) => approval?.approval_id === request.by.approval.approval_id)
  t.equal(ofApproval.length, 1, 'one write')
  t.match(ofApproval[0], { act: 'wallet.put', actor: request.by.actor, approval: request.by.approval })
  await put('LIVE', second, 4000)
  t.same(await suite.bus.call(doApproved.wallet, request), { result: 'done' }, 'a late repeat')
})

await t.test('a change that keeps the address never takes an approved one back', async (t) => {
  for (let turn = 0; turn < 20; turn++) {
    const { put, urlOf } = await newAccount()
    await t.rejects(put('LIVE', second), { code: 'APPROVAL_NEEDED' })
    const request = approved()
    const keeping = [2000, 3000, 4000].map((timeoutMs) => put('LIVE', first, timeoutMs))
    const [{ result }] = await Promise.all([
      suite.bus.call(doApproved.wallet, request),
      Promise.allSettled(keeping),
    ])
    t.equal(await urlOf('LIVE'), result === 'done' ? second : first, result)
  }
})

await t.test('an address that was approved for another state of the wallet is not taken', async (t) => {
  const { put, urlOf } = await newAccount()
  await t.rejects(put('LIVE', second), { code: 'APPROVAL_NEEDED' })
  const request = approved()
  await put('LIVE', first, 4000)
  t.same(await suite.bus.call(doApproved.wallet, request), { result: 'stale' })
  t.equal(await urlOf('LIVE'), first)
})

await t.test('the secret of the LIVE wallet is replaced once it is approved, by who asked', async (t) => {
  const { rotate } = await newAccount()
  await t.rejects(rotate(), { code: 'APPROVAL_NEEDED' })
  const { order } = approvals.asked.at(-1) ?? {}
  t.match(order, { act: 'wallet.rotate-secret' })
  const approval = { approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' }
  approvals.permits.push(approval)
  t.match((await rotate()).body.secret, /^wsec_/)
  t.match(log.at(-1), { act: 'wallet.rotate-secret', approval })
  await t.rejects(rotate(), { code: 'APPROVAL_NEEDED' }, 'an approval permits one')
})

await t.test('an address that is refused when its time has come is refused', async (t) => {
  const { put, urlOf } = await newAccount()
  await t.rejects(put('LIVE', second), { code: 'APPROVAL_NEEDED' })
  const { order, ...request } = approved()
  const settings = { ...order.settings, url: 'http://169.254.169.254/' }
  const moved = { ...request, order: { ...order, settings } }
  approvals.give(moved)
  await t.rejects(suite.bus.call(doApproved.wallet, moved), { code: 'VALIDATION_ERROR' })
  t.equal(await urlOf('LIVE'), first)
})
