import { actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { keepLedgerChunk, startReconciliation } from '@pitboss/contracts/calls/reconciliations'
import { opsHealMovements, opsResolveMovement } from '@pitboss/contracts/calls/wallet-ops'
import { listFlags, patchFlag, putFlagRules } from '@pitboss/contracts/endpoints/flags'
import { cancelReconciliation } from '@pitboss/contracts/endpoints/reconciliations'
import {
  cancelWalletCertification,
  certifyWallet,
  putWallet,
  rotateWalletSecret,
} from '@pitboss/contracts/endpoints/wallet'
import { defaultFlagRules } from '@pitboss/contracts/objects/flag'
import { newId } from '@pitboss/runtime/new-id'
import { callerIn } from '@pitboss/testing/sample-caller'
import type { JobDocument } from '@pitboss/storage/job-store'
import { holdAudit } from '@pitboss/testing/hold-audit'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import {
  callerOf,
  clientOf,
  newScope,
  reversalOf,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment())
t.teardown(() => bridge.stop())
const approvals = await serveApprovals(t, suite.bus, pino({ level: 'silent' }))
const log = await serveAuditLog(t, suite.bus, pino({ level: 'silent' }))
const wallet = await startSandboxWallet(t, 'x')
const scope = newScope()
const { operatorId } = scope
const caller = callerOf(scope)
const userId = caller.actor.kind === 'user' ? caller.actor.user_id : ''
const byUser = { actor: { kind: 'user', id: userId }, operatorId } as const
const byOperations = { actor: { kind: 'operations', id: 'ann' }, operatorId } as const
const order = { by: 'ann', reason: 'the wallet is gone', dryRun: false }
const at = { caller, params: { environment: 'TEST' }, query: {} } as const
const settings = { url: wallet.url, timeout_ms: 1000, settle_losses: 'none' } as const
const client = clientOf(suite.bus, scope)
const inLive = { caller: callerIn(caller, 'LIVE'), params: { environment: 'LIVE' }, query: {} } as const
const live = await suite.bus.call(putWallet.call, { ...inLive, body: settings })
const { storage } = suite

/** The job that was just ordered, as if another replica worked on it for a minute. */
async function running(of: 'certifications' | 'reconciliations'): Promise<string> {
  const claim = { status: 'RUNNING', claimedUntil: new Date(Date.now() + 60_000), claimToken: 99 } as const
  const jobs = storage.db.collection<JobDocument>(of)
  const job = await jobs.findOneAndUpdate({ operatorId }, { $set: claim }, { sort: { _id: -1 } })
  return job?._id ?? 'none'
}

await holdAudit(t, {
  service: 'wallet-bridge',
  entries: async () => log,
  cases: {
    'wallet.v1.wallet.put': {
      ...{ act: 'wallet.put', ...byUser },
      run: async () => {
        const { body } = await suite.bus.call(putWallet.call, { ...at, body: settings })
        return [body.secret ?? 'none']
      },
    },
    'wallet.v1.wallet.put-approved': {
      ...{ act: 'wallet.put', ...byUser },
      run: async () => {
        const approval = { approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' }
        const by = { ...actedBy(caller, { requestId: 'req_asked' }), approval }
        const order = { act: 'wallet.put', settings: { ...settings, url: `${wallet.url}/moved` } } as const
        approvals.give({ order, seen: '1', by })
        for (const _again of [1, 2]) await suite.bus.call(doApproved.wallet, { order, seen: '1', by })
        return [live.body.secret ?? 'none']
      },
    },
    'wallet.v1.wallet.rotate-secret': {
      ...{ act: 'wallet.rotate-secret', ...byUser },
      run: async () => {
        const { body } = await suite.bus.call(rotateWalletSecret.call, { ...at, body: { overlap_s: 60 } })
        const { secret = 'none' } = body
        await wallet.setSecret(secret)
        return [secret]
      },
    },
    'wallet.v1.flag-rules.put': {
      ...{ act: 'flag-rules.put', ...byUser },
      run: async () => {
        const big_win = [{ currency: 'USD', amount: '5' }]
        await suite.bus.call(putFlagRules.call, { ...at, body: { ...defaultFlagRules, big_win } })
        return []
      },
    },
    'wallet.v1.flag.change': {
      ...{ act: 'flag.change', ...byUser },
      run: async () => {
        const bet = specOf({ playerId: 'lucky', driver: 'operator' })
        await client.place(bet)
        await client.place({ ...specOf({ type: 'WIN', driver: 'operator' }), roundId: bet.roundId })
        const query = { environment: 'TEST', limit: 50 } as const
        const flag = await waitFor(async () => {
          const { body } = await suite.bus.call(listFlags.call, {
            caller,
            params: {},
            query,
            body: undefined,
          })
          return body.data.find(({ rule }) => rule === 'BIG_WIN')
        })
        const params = { flag_id: flag.flag_id }
        const body = { status: 'CLOSED', note: 'He plays for years.' } as const
        await suite.bus.call(patchFlag.call, { caller, params, query: {}, body })
        return []
      },
    },
    'wallet.v1.ops.event-republish': {
      why: 'it tells lost events again and changes no record; the command records it before it begins',
    },
    'wallet.v1.ops.seal-rewrite': {
      why: 'it seals the same values anew; the command records it, once for all services and pages',
    },
    'wallet.v1.certification.start': {
      ...{ act: 'wallet.certify', ...byUser },
      run: async () => {
        const body = { player_id: 'certification' }
        await suite.bus.call(certifyWallet.call, { ...at, body })
        return []
      },
    },
    'wallet.v1.certification.cancel': {
      ...{ act: 'certification.cancel', ...byUser },
      run: async () => {
        const params = { environment: 'TEST', certification_id: await running('certifications') } as const
        await suite.bus.call(cancelWalletCertification.call, { ...at, params, body: undefined })
        return []
      },
    },
    'wallet.v1.reconciliation.start': {
      ...{ act: 'reconciliation.start', ...byUser },
      run: async () => {
        const id = newId('rcn')
        await suite.bus.call(keepLedgerChunk, { caller, id, index: 0, lines: [] })
        const window = { from: '2026-11-19T00:00:00Z', to: '2026-11-20T00:00:00Z' }
        await suite.bus.call(startReconciliation, { caller, id, chunks: 1, lines: 0, ...window })
        return []
      },
    },
    'wallet.v1.reconciliation.cancel': {
      ...{ act: 'reconciliation.cancel', ...byUser },
      run: async () => {
        const params = { reconciliation_id: await running('reconciliations') }
        const asked = { caller, params, query: {}, body: undefined }
        await suite.bus.call(cancelReconciliation.call, asked)
        return []
      },
    },
    'wallet.v1.wallet.check': { why: 'it calls the wallet and changes nothing' },
    'wallet.v1.ops.movements-heal': {
      ...{ act: 'movement.heal', ...byOperations },
      run: async () => {
        const lost = { spec: specOf(), end: 'SUCCESS', code: null, told: null } as const
        for (const _again of [1, 2])
          await suite.bus.call(opsHealMovements, { order, scope, movements: [lost] })
        return []
      },
    },
    'wallet.v1.ops.movement-resolve': {
      ...{ act: 'movement.resolve', ...byOperations },
      run: async () => {
        await wallet.setFaults([{ operation: 'credit', player_id: 'owed', kind: 'http_error' }])
        const bet = specOf({ playerId: 'owed', driver: 'operator' })
        await client.place(bet)
        const win = { ...specOf({ type: 'WIN', playerId: 'owed', driver: 'operator' }), roundId: bet.roundId }
        const { reference } = (await client.place(win)).movement
        await suite.bus.call(opsResolveMovement, { order, reference, as: 'failed' })
        return []
      },
    },
  },
})

t.test('a change of settings tells what they were, and a dry run leaves no record', async (t) => {
  await suite.bus.call(putWallet.call, { ...at, body: { ...settings, timeout_ms: 2000 } })
  t.match(log.at(-1), { act: 'wallet.put', before: { timeout_ms: 1000 }, after: { timeout_ms: 2000 } })
  t.match(log.at(-1), { object: { type: 'wallet', id: 'TEST' } })
  const known = log.length
  const bet = specOf({ playerId: 'owed', driver: 'operator' })
  await client.place(bet)
  const { reference } = (await client.place(reversalOf(bet, 'REFUND'))).movement
  await suite.bus.call(opsResolveMovement, { order: { ...order, dryRun: true }, reference, as: 'success' })
  t.equal(log.length, known)
  await suite.bus.call(opsResolveMovement, { order, reference, as: 'success' })
  t.strictSame(
    log.slice(known).map(({ act, object }) => [act, object.type]),
    [
      ['movement.resolve', 'movement'],
      ['movement.resolve', 'movement'],
    ],
    'the refund and its original',
  )
  t.match(log.at(-1), { reason: order.reason })
})
