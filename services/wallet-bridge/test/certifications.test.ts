import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { walletCases } from '@pitboss/contracts/certification/wallet/wallet-cases'
import type { Scope } from '@pitboss/contracts/caller'
import {
  cancelWalletCertification,
  certifyWallet,
  getWalletCertification,
  listWalletCertifications,
  putWallet,
} from '@pitboss/contracts/endpoints/wallet'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { runOutClaims } from '@pitboss/testing/run-out-claims'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import { callerOf, configureWallet, newScope, startBridge, startSuite } from './fixtures/bridge.ts'
import { spawnBridge } from './fixtures/spawn-bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

/** A certification is a job: it ends once, whichever process dies, and its report tells no secret. */

const suite = await startSuite(t)
const at = (scope: Scope) =>
  ({ caller: callerOf(scope), params: { environment: 'TEST' }, query: {} }) as const
const players = { player_id: 'certified', blocked_player_id: 'blocked', unknown_player_id: 'unknown' }

const start = (scope: Scope) => suite.bus.call(certifyWallet.call, { ...at(scope), body: players })
const show = async (scope: Scope, certification_id: string) => {
  const params = { environment: 'TEST', certification_id } as const
  const asked = { ...at(scope), params, body: undefined }
  return (await suite.bus.call(getWalletCertification.call, asked)).body
}
const cancel = async (scope: Scope, certification_id: string) => {
  const params = { environment: 'TEST', certification_id } as const
  const asked = { ...at(scope), params, body: undefined }
  return (await suite.bus.call(cancelWalletCertification.call, asked)).body
}
const ended = (scope: Scope, id: string) =>
  waitFor(
    async () => {
      const job = await show(scope, id)
      return job.status === 'DONE' ? job : null
    },
    { timeoutMs: 90_000 },
  )
const list = async (scope: Scope) => {
  const page = { ...at(scope), query: { limit: 50 }, body: undefined }
  return (await suite.bus.call(listWalletCertifications.call, page)).body.data
}

/** Orders one of a process that dies in it, perhaps before it answers, and starts two others. */
async function startAtDying(scope: Scope, child: ChildProcess) {
  let signal: string | null = null
  const exited = once(child, 'exit').then(([, name]) => (signal = name))
  const isBegun = () =>
    start(scope).then(
      () => true,
      () => signal !== null,
    )
  await waitFor(isBegun, { timeoutMs: 60_000 })
  t.equal(await exited, 'SIGKILL')
  const others = [await startBridge(suite.environment()), await startBridge(suite.environment())]
  const [begun] = await list(scope)
  return { certification_id: begun?.certification_id ?? '', others }
}
const caseIds = walletCases.map(({ id }) => id)

async function startSandbox(t: Test, scope: Scope) {
  const wallet = await startSandboxWallet(t, 'not yet known')
  const secret = await configureWallet(suite.bus, scope, wallet.url, { timeout_ms: 5000 })
  await wallet.setSecret(secret)
  return { ...wallet, secret }
}

/**
 * A wallet that answers the first `freeMax` requests with a good balance and holds the others until `free()`.
 */
async function startHeldWallet(t: Test, freeMax: number) {
  let asked = 0
  let isFree = false
  const held: (() => void)[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const answer = () => {
        const body = { status: 'OK', balance: '1000.00', currency: 'USD', transactionId: `w${asked}` }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      asked += 1
      if (isFree || asked <= freeMax) answer()
      else held.push(answer)
    })
  })
  const port = await listenLocally(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const free = () => {
    isFree = true
    for (const answer of held.splice(0)) answer()
  }
  return { url: `http://127.0.0.1:${port}`, held, free }
}

await t.test('with a bridge', async (t) => {
  const bridge = await startBridge(suite.environment())
  t.teardown(() => bridge.stop())

  await t.test('a good wallet is certified, and the report tells no secret and no signature', async (t) => {
    const scope = newScope()
    const wallet = await startSandbox(t, scope)
    const begun = await start(scope)
    t.match(begun, { status: 202, body: { status: 'RUNNING', certified: null, cases_total: caseIds.length } })
    const { certification_id } = begun.body
    const job = await ended(scope, certification_id)
    t.strictSame(
      job.cases.filter(({ outcome }) => outcome !== 'passed'),
      [],
    )
    t.match(job, { certified: true, reason: null, passed: caseIds.length, failed: 0, skipped: 0 })
    t.strictSame(
      job.cases.map(({ id }) => id),
      caseIds,
      'each case once, in order',
    )
    const text = JSON.stringify(job)
    t.notOk(text.includes(wallet.secret), 'no secret')
    t.notMatch(text, /[0-9a-f]{64}/, 'no signature')
    const debit = job.cases
      .find(({ id }) => id === 'debit-exact')
      ?.exchanges.find(({ path }) => path === '/debit')
    t.match(debit, { http_status: 200, answer: /"status":"OK"/, body: /"playerId":"certified"/ })
    t.equal(debit?.headers['x-signature'], '[signature of 64 characters]')
    const { cases: _, ...summary } = job
    t.strictSame(await list(scope), [summary])
  })

  await t.test('a bad wallet is told what failed, what it costs and what to do', async (t) => {
    const scope = newScope()
    const { url } = await startHeldWallet(t, 1_000_000)
    await configureWallet(suite.bus, scope, url)
    const job = await ended(scope, (await start(scope)).body.certification_id)
    t.equal(job.certified, false)
    const forged = job.cases.find(({ id }) => id === 'signature-wrong-secret')
    t.match(forged, { outcome: 'failed', message: /must not be accepted/, why: /in our name/, hint: /HMAC/ })
    t.match(forged?.exchanges, [{ path: '/balance' }, { path: '/debit', http_status: 200 }])
  })

  await t.test('a wallet has one certification at a time, and nobody else sees it', async (t) => {
    const scope = newScope()
    const { url, held } = await startHeldWallet(t, 0)
    await configureWallet(suite.bus, scope, url, { timeout_ms: 15_000 })
    const { certification_id } = (await start(scope)).body
    await t.rejects(start(scope), { code: 'CONFLICT', message: new RegExp(certification_id) })
    await t.rejects(show(newScope(), certification_id), { code: 'NOT_FOUND' })
    await waitFor(async () => held.length > 0)
    await suite.bus.call(putWallet.call, {
      ...at(scope),
      body: { url, timeout_ms: 1000, settle_losses: 'none' },
    })
    held.shift()?.()
    t.match(await ended(scope, certification_id), { certified: false, reason: /changed meanwhile/ })
    t.equal((await start(scope)).status, 202, 'and then the next one')
  })

  await t.test('no wallet, no currency and LIVE are refused', async (t) => {
    await t.rejects(start(newScope()), { code: 'NOT_FOUND' })
    const scope = newScope()
    await configureWallet(suite.bus, scope, 'http://127.0.0.1:9')
    const body = { ...players, currency: 'XXX' }
    await t.rejects(suite.bus.call(certifyWallet.call, { ...at(scope), body }), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'currency' }],
    })
    const live = { ...at(scope), params: { environment: 'LIVE' }, body: players } as const
    await t.rejects(suite.bus.call(certifyWallet.call, live), { code: 'NOT_FOUND', message: /test player/ })
  })

  await t.test('a wallet that refuses its test player fails once, with what to do', async (t) => {
    const scope = newScope()
    await startSandbox(t, scope)
    const body = { player_id: 'blocked' }
    const { certification_id } = (await suite.bus.call(certifyWallet.call, { ...at(scope), body })).body
    const job = await ended(scope, certification_id)
    t.match(job, { certified: false, failed: 1, reason: /test player cannot play/ })
    const last = { id: 'player-ready', message: /PLAYER_BLOCKED/, hint: /Name a player/ }
    t.match(job.cases.at(-1), last)
  })

  await t.test('a wallet where nobody is at home fails once', async (t) => {
    const scope = newScope()
    await configureWallet(suite.bus, scope, 'http://127.0.0.1:9')
    const job = await ended(scope, (await start(scope)).body.certification_id)
    const reason = 'The wallet does not answer: connection refused.'
    t.match(job, { certified: false, passed: 0, failed: 1, reason })
    t.match(job.cases, [{ id: 'http-answer', message: 'connection refused', hint: /that the server runs/ }])
  })
})

await t.test('a certification goes on where a killed process left it, and ends once', async (t) => {
  const scope = newScope()
  const first = await startBridge(suite.environment())
  await startSandbox(t, scope)
  await first.stop()
  const child = spawnBridge(t, {
    ...suite.environment(),
    PITBOSS_FAILPOINTS: 'wallet-bridge.certified-case=kill@5',
  })
  const { certification_id, others } = await startAtDying(scope, child)
  const kept = (await show(scope, certification_id)).cases
  t.equal(kept.length, 5, 'what was stored before the kill')
  await runOutClaims(suite.storage.db)
  const job = await ended(scope, certification_id)
  t.match(job, { certified: true, passed: caseIds.length })
  t.strictSame(
    job.cases.map(({ id }) => id),
    caseIds,
    'each case once, in order',
  )
  t.strictSame(job.cases.slice(0, 5), kept)
  await Promise.all(others.map((bridge) => bridge.stop()))
})

await t.test('a certification that a person cancels stays so, whichever replica works on it', async (t) => {
  const replicas = [await startBridge(suite.environment()), await startBridge(suite.environment())]
  const scope = newScope()
  const { url, held, free } = await startHeldWallet(t, 20)
  await configureWallet(suite.bus, scope, url, { timeout_ms: 15_000 })
  const { certification_id } = (await start(scope)).body
  await waitFor(async () => held.length > 0)
  await t.rejects(cancel(newScope(), certification_id), { code: 'NOT_FOUND' })
  await t.rejects(cancel(scope, certification_id.replace(/.$/, '!')), { code: 'NOT_FOUND' })
  t.match(await show(scope, certification_id), { status: 'RUNNING' })
  const cancelled = await cancel(scope, certification_id)
  t.match(cancelled, { status: 'CANCELLED', certified: false, reason: /A person cancelled it/ })
  t.ok(cancelled.finished_at !== null && cancelled.cases.length < caseIds.length)
  t.strictSame(await cancel(scope, certification_id), cancelled, 'again, it is answered as it is')
  const next = (await start(scope)).body
  t.equal(next.status, 'RUNNING', 'the next one is ordered at once')
  t.strictSame((await show(scope, next.certification_id)).cases, [])
  while (held.length > 0) held.shift()?.()
  const begun = async () => {
    while (held.length > 0) held.shift()?.()
    return (await show(scope, next.certification_id)).cases.length > 0
  }
  await waitFor(begun, { timeoutMs: 20_000, what: 'the next one begins long before the claim runs out' })
  t.strictSame(
    await show(scope, certification_id),
    cancelled,
    'the wallet had answered, and nothing came of it',
  )
  t.match(await cancel(scope, next.certification_id), { status: 'CANCELLED' })
  free()
  await Promise.all(replicas.map((bridge) => bridge.stop()))
})

await t.test('a certification that was cancelled goes on nowhere when its process was killed', async (t) => {
  const scope = newScope()
  const first = await startBridge(suite.environment())
  await startSandbox(t, scope)
  await first.stop()
  const child = spawnBridge(t, {
    ...suite.environment(),
    PITBOSS_FAILPOINTS: 'wallet-bridge.certified-case=kill@5',
  })
  const { certification_id, others } = await startAtDying(scope, child)
  const cancelled = await cancel(scope, certification_id)
  t.equal(cancelled.cases.length, 5, 'what was stored before the kill')
  await runOutClaims(suite.storage.db)
  const next = await ended(scope, (await start(scope)).body.certification_id)
  t.match(next, { status: 'DONE', certified: true }, 'the next one began when the claim had run out')
  t.strictSame(await show(scope, cancelled.certification_id), cancelled)
  t.strictSame(await cancel(scope, next.certification_id), next, 'one that has ended stays as it is')
  await Promise.all(others.map((bridge) => bridge.stop()))
})

await t.test('a stopped process hands its certification over at once', async (t) => {
  const scope = newScope()
  const first = await startBridge(suite.environment())
  const { url, held, free } = await startHeldWallet(t, 20)
  await configureWallet(suite.bus, scope, url, { timeout_ms: 15_000 })
  const { certification_id } = (await start(scope)).body
  await waitFor(async () => held.length > 0)
  const stopping = first.stop()
  held.shift()?.()
  await stopping
  const next = await startBridge(suite.environment())
  t.teardown(() => next.stop())
  const before = (await show(scope, certification_id)).cases.length
  t.ok(before > 0 && before < caseIds.length)
  await waitFor(async () => held.length > 0)
  t.equal(
    (await show(scope, certification_id)).cases.length,
    before,
    'the case that was cut short runs again',
  )
  free()
})
