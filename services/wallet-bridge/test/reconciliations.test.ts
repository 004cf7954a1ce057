import { once } from 'node:events'
import type { Scope } from '@pitboss/contracts/caller'
import { keepLedgerChunk, startReconciliation } from '@pitboss/contracts/calls/reconciliations'
import {
  cancelReconciliation,
  getReconciliation,
  listReconciliations,
} from '@pitboss/contracts/endpoints/reconciliations'
import { newId } from '@pitboss/runtime/new-id'
import { runOutClaims } from '@pitboss/testing/run-out-claims'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createLedgerChunks } from '../src/wings/reconciliations/storage/reconciliation-store.ts'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { spawnBridge } from './fixtures/spawn-bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

/** A ledger that a person sends is compared once, whichever process dies, and is gone afterwards. */

const suite = await startSuite(t)
const chunkLines = 250
const window = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 60_000).toISOString(),
})
const row = (transaction_id: string, change = {}) => ({
  ...{ transaction_id, type: 'BET', amount: '10.00', currency: 'USD', player_id: null },
  ...change,
})

type Line = Parameters<typeof keepLedgerChunk.request.parse>[0]
const linesOf = (rows: readonly ReturnType<typeof row>[]) =>
  rows.map((one, at) => ({ ok: true as const, line: at + 1, row: one }))

async function send(scope: Scope, lines: readonly object[], id = newId('rcn')) {
  const caller = callerOf(scope)
  let index = 0
  for (let at = 0; at < lines.length || index === 0; at += chunkLines) {
    const kept: Line = { caller, id, index, lines: lines.slice(at, at + chunkLines) }
    await suite.bus.call(keepLedgerChunk, keepLedgerChunk.request.parse(kept))
    index += 1
  }
  return { caller, id, chunks: index, lines: lines.length }
}
const order = async (scope: Scope, lines: readonly object[]) => {
  const sent = await send(scope, lines)
  return suite.bus.call(startReconciliation, { ...sent, ...window() })
}
const show = async (scope: Scope, reconciliation_id: string) => {
  const asked = { caller: callerOf(scope), params: { reconciliation_id }, query: {}, body: undefined }
  return (await suite.bus.call(getReconciliation.call, asked)).body
}
const cancel = async (scope: Scope, reconciliation_id: string) => {
  const asked = { caller: callerOf(scope), params: { reconciliation_id }, query: {}, body: undefined }
  return (await suite.bus.call(cancelReconciliation.call, asked)).body
}
const ended = (scope: Scope, id: string) =>
  waitFor(
    async () => {
      const job = await show(scope, id)
      return job.status === 'DONE' ? job : null
    },
    { timeoutMs: 90_000, what: 'the comparison has ended' },
  )

const { storage } = suite
const chunks = createLedgerChunks(storage.db)

await t.test('with a bridge', async (t) => {
  const bridge = await startBridge(suite.environment())
  t.teardown(() => bridge.stop())

  await t.test('each kind of difference is counted and told, and the ledger is gone', async (t) => {
    const scope = newScope()
    const wallet = await startSandboxWallet(t, 'not yet known')
    await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url))
    const ours = clientOf(suite.bus, scope)
    const [same, other, lacking] = [specOf(), specOf(), specOf()]
    for (const spec of [same, other, lacking]) await ours.place(spec)
    const job = await order(scope, [
      ...linesOf([
        row(same.transactionId),
        row(other.transactionId, { amount: '9.00' }),
        row('bet_nobody'),
        row(same.transactionId),
      ]),
      { ok: false, line: 5, message: 'is not a JSON object' },
    ])
    t.match(job, { status: 'RUNNING', lines_total: 5, differences_total: 0 })
    const found = await ended(scope, job.reconciliation_id)
    t.match(found, { lines: 5, matched: 1, reason: null, differences_total: 5 })
    t.strictSame(found.counts, { extra: 1, different: 1, missing: 1, duplicate: 1, unreadable: 1 })
    const of = (kind: string) => found.differences.find((one) => one.kind === kind)
    t.match(of('extra'), {
      ...{ transaction_id: 'bet_nobody', line: 3 },
      message: 'We have no movement with this id.',
    })
    t.match(of('different'), {
      line: 2,
      transaction_id: other.transactionId,
      fields: [{ field: 'amount', ours: '10.00', theirs: '9.00' }],
    })
    t.match(of('missing'), { line: null, ours: { transaction_id: lacking.transactionId, amount: '10.00' } })
    t.match(of('duplicate'), { line: 4, transaction_id: same.transactionId })
    t.match(of('unreadable'), { line: 5, message: 'is not a JSON object' })
    await waitFor(async () => (await chunks.count(scope, job.reconciliation_id)) === 0)
    const page = { caller: callerOf(scope), params: {}, query: { limit: 10 }, body: undefined }
    const { data } = (await suite.bus.call(listReconciliations.call, page)).body
    const { differences: _, ...summary } = found
    t.strictSame(data, [summary])
  })

  await t.test('the first hundred of a kind are kept, and all are counted', async (t) => {
    const scope = newScope()
    const rows = Array.from({ length: 1201 }, (_, index) => row(`bet_${index}`))
    const found = await ended(scope, (await order(scope, linesOf(rows))).reconciliation_id)
    t.match(found, { lines: 1201, counts: { extra: 1201 }, differences_total: 1201 })
    t.equal(found.differences.length, 100)
    t.match(found.differences[99], { transaction_id: 'bet_99' })
  })

  await t.test('nobody else sees one, and half a ledger is not compared', async (t) => {
    const scope = newScope()
    const { reconciliation_id } = await order(scope, [])
    t.match(await ended(scope, reconciliation_id), { lines: 0, differences_total: 0 })
    for (const stranger of [newScope(), { ...scope, environment: 'LIVE' } as const])
      await t.rejects(show(stranger, reconciliation_id), { code: 'NOT_FOUND' })
    const sent = await send(scope, linesOf([row('bet_a')]))
    t.equal(await chunks.count(scope, sent.id), 1, 'it is kept for a day')
    const missing = { ...sent, ...window(), chunks: 2 }
    await t.rejects(suite.bus.call(startReconciliation, missing), { code: 'VALIDATION_ERROR' })
    const stolen = { ...sent, ...window(), caller: callerOf(newScope()) }
    await t.rejects(suite.bus.call(startReconciliation, stolen), { code: 'VALIDATION_ERROR' })
    const { from, to } = window()
    await t.rejects(suite.bus.call(startReconciliation, { ...sent, from: to, to: from }), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'to' }],
    })
  })
})

await t.test('a comparison begins again when its process was killed, and is right', async (t) => {
  const scope = newScope()
  const child = spawnBridge(t, {
    ...suite.environment(),
    PITBOSS_FAILPOINTS: 'wallet-bridge.reconciled-rows=kill@2',
  })
  const rows = Array.from({ length: 1600 }, (_, index) => row(`bet_${index}`))
  const sent = await waitFor(() => send(scope, linesOf(rows)).catch(() => null), { timeoutMs: 60_000 })
  // the process may die before it answers; the job has the id of what was sent
  suite.bus.call(startReconciliation, { ...sent, ...window() }).catch(() => null)
  const [, signal] = await once(child, 'exit')
  t.equal(signal, 'SIGKILL')
  const others = [await startBridge(suite.environment()), await startBridge(suite.environment())]
  t.match(await show(scope, sent.id), { status: 'RUNNING', lines: 1000 })
  await t.rejects(send(scope, []), { code: 'CONFLICT', message: new RegExp(sent.id) })
  await runOutClaims(storage.db)
  const found = await ended(scope, sent.id)
  t.match(found, { lines: 1600, counts: { extra: 1600 }, reason: null }, 'nothing is counted twice')
  t.equal(found.differences.length, 100)
  await Promise.all(others.map((bridge) => bridge.stop()))
})

await t.test('a comparison that a person cancels goes on nowhere, and its ledger is gone', async (t) => {
  const scope = newScope()
  const child = spawnBridge(t, {
    ...suite.environment(),
    PITBOSS_FAILPOINTS: 'wallet-bridge.reconciled-rows=kill@2',
  })
  const rows = Array.from({ length: 1600 }, (_, index) => row(`bet_${index}`))
  const sent = await waitFor(() => send(scope, linesOf(rows)).catch(() => null), { timeoutMs: 60_000 })
  suite.bus.call(startReconciliation, { ...sent, ...window() }).catch(() => null)
  await once(child, 'exit')
  const reconciliation_id = sent.id
  const others = [await startBridge(suite.environment()), await startBridge(suite.environment())]
  await t.rejects(cancel(newScope(), reconciliation_id), { code: 'NOT_FOUND' })
  const cancelled = await cancel(scope, reconciliation_id)
  t.match(cancelled, { status: 'CANCELLED', reason: /A person cancelled it/, lines: 1000, differences: [] })
  t.equal(await chunks.count(scope, reconciliation_id), 0, 'the ledger is gone')
  await runOutClaims(storage.db)
  t.strictSame(await cancel(scope, reconciliation_id), cancelled, 'again, it is answered as it is')
  const next = await ended(scope, (await order(scope, linesOf(rows))).reconciliation_id)
  t.match(next, { status: 'DONE', lines: 1600 }, 'the next one began when the claim had run out')
  t.strictSame(await show(scope, reconciliation_id), cancelled)
  t.strictSame(await cancel(scope, next.reconciliation_id), next, 'one that has ended stays as it is')
  await Promise.all(others.map((bridge) => bridge.stop()))
})
