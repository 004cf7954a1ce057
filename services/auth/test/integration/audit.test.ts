import { randomUUID } from 'node:crypto'
import { acceptInvitation, appendAudit, login, logout } from '@pitboss/contracts/calls/auth'
import * as ops from '@pitboss/contracts/calls/auth-ops'
import * as approvals from '@pitboss/contracts/endpoints/approvals'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import * as people from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { holdAudit } from '@pitboss/testing/hold-audit'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { waitFor } from '@pitboss/testing/wait-for'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import type { AuditDocument } from '../../src/storage/audits-store.ts'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }
const order = { by: 'ann', reason: 'asked for', dryRun: false }
const password = 'a long enough password'
const otherPassword = 'another long password'
const client = { address: '192.0.2.7', userAgent: 'tap' }

const auth = await authOnDatabase(t)
const { call, db } = auth
const entries = async () =>
  (await db.collection<AuditDocument>('audits').find({}).toArray()).map(({ entry }) => entry)

/** An account of its own with its owner. */
async function newAccount() {
  const email = `owner-${randomUUID()}@casino.example`
  const made = await call(ops.opsCreateOperator, {
    order,
    name: 'Casino',
    email,
    password,
    plan: 'paid',
    approved: true,
    currencies: null,
  })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const { body } = await call(login, { email, password, totp: null })
  const ownerId = body.user.user_id
  return { email, operatorId, handle: made.operator_id, ownerId, caller: auth.callerAs(operatorId, ownerId) }
}

/** An account that wants a second person for grave acts; `ask` deletes a LIVE key of it, which waits. */
async function watchedAccount() {
  const { operatorId, caller: boss, ownerId: bossId } = await newAccount()
  const second = { email: `${randomUUID()}@casino.example`, name: 'Second', role: 'ADMIN', password } as const
  const { body } = await call(people.inviteUser.call, { caller: boss, ...none, body: second })
  await call(endpoints.patchBusiness.call, { caller: boss, ...none, body: { second_person: true } })
  const live = { ...boss.scope, environment: 'LIVE' } as const
  const asker = { ...auth.callerAs(operatorId, body.user_id), scope: live }
  const scopes = ['games:read' as const]
  const key = { name: 'Key', environment: 'LIVE' as const, scopes, ip_allowlist: [] }
  return {
    ...{ operatorId, boss, bossId },
    ask: async () => {
      const { api_key } = (await call(endpoints.createCredential.call, { caller: boss, ...none, body: key }))
        .body
      const deletion = { caller: asker, ...none, params: { api_key } }
      await call(endpoints.deleteCredential.call, deletion).catch(() => null)
      const { data } = (
        await call(approvals.listApprovals.call, { caller: boss, ...none, query: { limit: 1 } })
      ).body
      return data[0]?.approval_id ?? ''
    },
  }
}

const main = await newAccount()
const { operatorId, ownerId, caller, email } = main
const byOwner = { actor: { kind: 'user', id: ownerId }, operatorId } as const
const byOperations = { kind: 'operations', id: 'ann' } as const
const invite = async (body: object = {}) =>
  (
    await call(people.inviteUser.call, {
      caller,
      ...none,
      body: { email: `${randomUUID()}@casino.example`, name: 'Second', role: 'VIEWER', ...body },
    })
  ).body
const newKey = async () =>
  (
    await call(endpoints.createCredential.call, {
      caller,
      ...none,
      body: { name: 'Key', environment: 'TEST', scopes: [], ip_allowlist: [] },
    })
  ).body
const key = await newKey()
const watched = await watchedAccount()
const unwatched = await watchedAccount()
const brand = { name: 'Lobby' }
const view = { name: 'Refused', page: '/rounds', query: 'status=FAILED' }
const totp = { secret: '' }
const recovery: string[] = []
const made = { operatorId: '' }
const cookie = { refreshToken: '' }
const change = { caller, ...none, params: { api_key: key.api_key } }

await holdAudit(t, {
  service: 'auth',
  entries,
  cases: {
    'auth.v1.credential.create': {
      act: 'credential.create',
      ...byOwner,
      run: async () => [(await newKey()).api_secret ?? 'none'],
    },
    'auth.v1.credential.change': {
      act: 'credential.change',
      ...byOwner,
      run: async () => {
        await call(endpoints.patchCredential.call, { ...change, body: { name: 'New' } })
        return []
      },
    },
    'auth.v1.credential.rotate': {
      act: 'credential.rotate',
      ...byOwner,
      run: async () => [(await call(endpoints.rotateCredential.call, change)).body.api_secret ?? 'none'],
    },
    'auth.v1.credential.revoke': {
      act: 'credential.revoke',
      ...byOwner,
      run: async () => {
        await call(endpoints.revokeCredential.call, change)
        return []
      },
    },
    'auth.v1.credential.delete': {
      act: 'credential.delete',
      ...byOwner,
      run: async () => {
        await call(endpoints.deleteCredential.call, change)
        return []
      },
    },
    'auth.v1.business.change': {
      act: 'business.change',
      ...byOwner,
      run: async () => {
        await call(endpoints.patchBusiness.call, { caller, ...none, body: { name: 'Palace' } })
        return []
      },
    },
    'auth.v1.business.change-for-dashboard': {
      act: 'business.change',
      ...byOwner,
      run: async () => {
        await call(endpoints.dashboardPatchBusiness.call, { caller, ...none, body: { name: 'House' } })
        return []
      },
    },
    'auth.v1.brand.create': {
      act: 'brand.create',
      ...byOwner,
      run: async () => {
        await call(endpoints.createBrand.call, { caller, ...none, body: brand })
        return []
      },
    },
    'auth.v1.brand.delete': {
      act: 'brand.delete',
      ...byOwner,
      run: async () => {
        const { body } = await call(endpoints.listBrands.call, { caller, ...none, query: { limit: 1 } })
        const brand_id = body.data[0]?.brand_id ?? ''
        await call(endpoints.deleteBrand.call, { caller, ...none, params: { brand_id } })
        return []
      },
    },
    'auth.v1.view.create': {
      act: 'view.create',
      ...byOwner,
      run: async () => {
        await call(endpoints.createView.call, { caller, ...none, body: view })
        return []
      },
    },
    'auth.v1.view.delete': {
      act: 'view.delete',
      ...byOwner,
      run: async () => {
        const { body } = await call(endpoints.listViews.call, { caller, ...none, query: { limit: 1 } })
        const view_id = body.data[0]?.view_id ?? ''
        await call(endpoints.deleteView.call, { caller, ...none, params: { view_id } })
        return []
      },
    },
    'auth.v1.approval.approve': {
      ...{
        act: 'approval.approve',
        actor: { kind: 'user', id: watched.bossId },
        operatorId: watched.operatorId,
      },
      run: async () => {
        const params = { approval_id: await watched.ask() }
        await call(approvals.approveApproval.call, { caller: watched.boss, ...none, params })
        return []
      },
    },
    'auth.v1.ops.approval-approve': {
      act: 'approval.approve',
      actor: byOperations,
      operatorId: unwatched.operatorId,
      run: async () => {
        const approval_id = await unwatched.ask()
        // Nobody of the account is left who could.
        const people = auth.db.collection<{ _id: string }>('users')
        await people.updateOne({ _id: unwatched.bossId }, { $set: { role: 'VIEWER' } })
        await call(ops.opsApprove, { order, operator: unwatched.operatorId, approval_id })
        return []
      },
    },
    'auth.v1.approval.reject': {
      ...{
        act: 'approval.reject',
        actor: { kind: 'user', id: watched.bossId },
        operatorId: watched.operatorId,
      },
      run: async () => {
        const params = { approval_id: await watched.ask() }
        await call(approvals.rejectApproval.call, { caller: watched.boss, ...none, params })
        return []
      },
    },
    'auth.v1.user.create': {
      act: 'user.create',
      ...byOwner,
      run: async () => {
        const { invite_url: url = '' } = await invite()
        return [url.split('=')[1] ?? 'none']
      },
    },
    'auth.v1.user.change': {
      act: 'user.change',
      ...byOwner,
      run: async () => {
        const { user_id } = await invite({ password: otherPassword })
        const named = { caller, ...none, params: { user_id } }
        await call(people.patchUser.call, { ...named, body: { role: 'ADMIN' } })
        return [otherPassword]
      },
    },
    'auth.v1.user.remove': {
      act: 'user.remove',
      ...byOwner,
      run: async () => {
        const { user_id } = await invite()
        await call(people.removeUser.call, { caller, ...none, params: { user_id } })
        return []
      },
    },
    'auth.v1.me.end-session': {
      act: 'session.end',
      ...byOwner,
      run: async () => {
        await call(login, { email, password, totp: null })
        const { body } = await call(people.listOwnSessions.call, { caller, ...none, query: { limit: 1 } })
        const params = { session_id: body.data[0]?.session_id ?? '' }
        await call(people.endOwnSession.call, { caller, ...none, params })
        return []
      },
    },
    'auth.v1.me.change-password': {
      act: 'password.change',
      ...byOwner,
      run: async () => {
        const body = { current_password: password, new_password: otherPassword }
        await call(people.changePassword.call, { caller, ...none, body })
        return [password, otherPassword]
      },
    },
    'auth.v1.me.enrol-totp': {
      act: 'totp.enrol',
      ...byOwner,
      run: async () => {
        const { body } = await call(people.enrolTotp.call, {
          caller,
          ...none,
          body: { password: otherPassword },
        })
        totp.secret = body.secret
        return [body.secret]
      },
    },
    'auth.v1.me.confirm-totp': {
      act: 'totp.confirm',
      ...byOwner,
      run: async () => {
        const code = new TOTP({ secret: Secret.fromBase32(totp.secret) }).generate()
        const { body } = await call(people.confirmTotp.call, { caller, ...none, body: { code } })
        recovery.push(...body.recovery_codes)
        return [...body.recovery_codes, totp.secret]
      },
    },
    'auth.v1.me.remove-totp': {
      act: 'totp.remove',
      ...byOwner,
      run: async () => {
        const body = { password: otherPassword, code: recovery[0] ?? '' }
        await call(people.removeTotp.call, { caller, ...none, body })
        return []
      },
    },
    'auth.v1.ops.operator-create': {
      act: 'operator.create',
      actor: byOperations,
      get operatorId() {
        return made.operatorId
      },
      run: async () => {
        Object.assign(made, await newAccount())
        return [password]
      },
    },
    'auth.v1.ops.operator-set': {
      act: 'operator.set',
      actor: byOperations,
      operatorId,
      run: async () => {
        await call(ops.opsSetOperator, { order, operator: main.handle, live_play: 'off' })
        return []
      },
    },
    'auth.v1.ops.user-reset-factor': {
      act: 'user.reset-factor',
      actor: byOperations,
      operatorId,
      run: async () => {
        await call(ops.opsResetFactor, { order, user: ownerId, operator: null })
        return []
      },
    },
    'auth.v1.ops.platform-set': {
      act: 'platform.set',
      actor: byOperations,
      operatorId: null,
      run: async () => {
        await call(ops.opsSetPlatform, { order, real_money: true })
        return []
      },
    },
    'auth.v1.ops.key-rotate': {
      act: 'keys.rotate',
      actor: byOperations,
      operatorId: null,
      run: async () => {
        await call(ops.opsRotateKeys, { order })
        return []
      },
    },
    'auth.v1.ops.seal-rewrite': {
      why: 'it seals the same values anew; the command records it, once for all services and pages',
    },
    'auth.v1.ops.key-retire': {
      act: 'keys.retire',
      actor: byOperations,
      operatorId: null,
      run: async () => {
        const { data } = await call(ops.opsListKeys, {})
        await call(ops.opsRetireKey, { order, kid: data[0]?.kid ?? '' })
        return []
      },
    },
    'auth.v1.dashboard.login': {
      act: 'sign-in.done',
      ...byOwner,
      run: async () => {
        const { refreshToken } = await call(login, { email, password: otherPassword, totp: null, client })
        cookie.refreshToken = refreshToken
        return [otherPassword, refreshToken]
      },
    },
    'auth.v1.dashboard.logout': {
      act: 'sign-out',
      ...byOwner,
      run: async () => {
        await call(logout, { ...cookie, clientAddress: client.address })
        return []
      },
    },
  },
})

const listAs = async (as: typeof caller, query: object = {}) =>
  (await call(endpoints.listAudit.call, { caller: as, ...none, query: { limit: 50, ...query } })).body

t.test('an account reads its own records alone, newest first, filtered and by pages', async (t) => {
  const other = await newAccount()
  const all = await listAs(caller, { limit: 200 })
  t.ok(all.data.length > 15)
  t.notOk(all.data.some(({ object }) => object.id === other.ownerId || object.id === other.handle))
  t.strictSame(
    all.data.map(({ at }) => at),
    all.data.map(({ at }) => at).toSorted((a, b) => b.localeCompare(a)),
  )
  t.notOk('reason' in (all.data[0] ?? {}) || 'operator_id' in (all.data[0] ?? {}))

  const acts = async (query: object) => (await listAs(caller, query)).data.map(({ act }) => act)
  t.strictSame(await acts({ act: 'totp.enrol' }), ['totp.enrol'])
  t.strictSame(
    new Set(await acts({ actor: 'ann' })),
    new Set(['operator.set', 'operator.create', 'user.reset-factor']),
  )
  t.strictSame(await acts({ actor: 'operations' }), await acts({ actor: 'ann' }))
  t.ok((await acts({ object: 'credential' })).every((act) => act.startsWith('credential.')))
  t.ok((await acts({ object: key.api_key })).includes('credential.delete'), 'also of what is gone')
  t.strictSame(await acts({ actor: other.ownerId }), [])
  t.strictSame(await acts({ to: '2020-01-01T00:00:00.000Z' }), [])
  t.equal((await acts({ from: all.data.at(-1)?.at, limit: 200 })).length, all.data.length, 'inclusive')

  const seen: string[] = []
  let cursor: string | null | undefined
  do {
    const query = { limit: 4, actor: 'user', ...(cursor === undefined ? {} : { cursor }) }
    const page: Awaited<ReturnType<typeof listAs>> = await listAs(caller, query)
    seen.push(...page.data.map(({ audit_id }) => audit_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  t.equal(new Set(seen).size, seen.length)
  t.equal(seen.length, all.data.filter(({ actor }) => actor.kind === 'user').length)
  const first = await listAs(caller, { limit: 1 })
  await t.rejects(listAs(caller, { limit: 1, act: 'sign-out', cursor: first.next_cursor ?? '' }), {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'cursor' }],
  })
})

t.test('a refused sign-in is recorded for the person, and its log line has a hashed address', async (t) => {
  const someone = await newAccount()
  const wrong = { email: someone.email, password: otherPassword, totp: null, client }
  await t.rejects(call(login, wrong), { code: 'INVALID_CREDENTIALS' })
  const [record] = await waitFor(async () => {
    const { data } = await listAs(someone.caller, { act: 'sign-in.refused' })
    return data.length > 0 && data
  })
  t.match(record, { object: { type: 'user', id: someone.ownerId }, client_address: client.address })
  const line = auth.logged.findLast((one) => 'msg' in one && one.msg === 'sign-in.refused')
  t.match(line, { code: 'INVALID_CREDENTIALS', client_address: client.address })
  t.notMatch(JSON.stringify(line), someone.email)
})

t.test('an accepted invitation is recorded', async (t) => {
  const { user_id, invite_url: url = '' } = await invite()
  const token = url.split('=')[1] ?? ''
  await call(acceptInvitation, { token, password, clientAddress: client.address })
  const { data } = await listAs(caller, { actor: user_id })
  t.match(data, [{ act: 'user.accept', client_address: client.address, after: { status: 'ACTIVE' } }])
  t.notMatch(JSON.stringify(data), token)
})

t.test('entries of other services are taken once', async (t) => {
  const append = appendAudit['wallet-bridge']
  const sample = () => ({ ...sampleAuditEntry(operatorId), act: 'wallet.put' })
  const entry = sample()
  t.strictSame(await call(append, { entries: [entry] }), { written: 1 })
  t.strictSame(await call(append, { entries: [entry, sample()] }), { written: 1 })
  t.equal((await listAs(caller, { act: entry.act })).data.length, 2)
})

t.test('a service tells of its own acts alone', async (t) => {
  const sample = (act: string) => ({ ...sampleAuditEntry(operatorId), act })
  const before = (await entries()).length
  for (const act of ['wallet.put', 'movement.resolve', 'game.change', 'sign-in.done', 'user.remove']) {
    const batch = [sample('endpoint.pause'), sample(act)]
    await t.rejects(call(appendAudit.webhooks, { entries: batch }), { code: 'VALIDATION_ERROR' }, act)
  }
  t.equal((await entries()).length, before, 'nothing of such a batch is written')
  t.strictSame(await call(appendAudit.webhooks, { entries: [sample('endpoint.pause')] }), { written: 1 })
})

t.test('operations read their own records, those of an earlier release too', async (t) => {
  const earlier = { _id: 'aud_1', at: new Date(), by: 'bob', what: 'keys.rotate', target: null }
  await db.collection<{ _id: string }>('audits').insertOne({ ...earlier, reason: 'due', details: {} } as {
    _id: string
  })
  const { data } = await call(ops.opsListAudit, { cursor: null, limit: 200 })
  t.match(
    data.find(({ audit_id }) => audit_id === 'aud_1'),
    { by: 'bob', what: 'keys.rotate', reason: 'due' },
  )
  t.ok(data.some(({ by, what, reason }) => by === 'ann' && what === 'platform.set' && reason === 'asked for'))
  t.notOk(data.some(({ what }) => what.startsWith('sign-in')))
})

t.test('operations read the records of every service in the order of time', async (t) => {
  const actor = { kind: 'operations' as const, id: 'ann', name: 'ann' }
  const ordered = (act: string, at: string) => ({ ...sampleAuditEntry(operatorId), actor, act, at })
  const acts = [
    [appendAudit.webhooks, ordered('endpoint.pause', '2027-01-01T00:00:01.000Z')],
    [appendAudit.rounds, ordered('game.change', '2027-01-01T00:00:04.000Z')],
    [appendAudit['wallet-bridge'], ordered('movement.resolve', '2027-01-01T00:00:02.000Z')],
    [appendAudit.webhooks, ordered('endpoint.resume', '2027-01-01T00:00:03.000Z')],
  ] as const
  for (const [append, entry] of acts) await call(append, { entries: [entry] })
  const whats: string[] = []
  let cursor: string | null = null
  do {
    const page: { data: { what: string }[]; next_cursor: string | null } = await call(ops.opsListAudit, {
      cursor,
      limit: 3,
    })
    whats.push(...page.data.map(({ what }) => what))
    cursor = page.next_cursor
  } while (cursor !== null)
  t.strictSame(whats.slice(0, 4), ['game.change', 'endpoint.resume', 'movement.resolve', 'endpoint.pause'])
  t.equal(whats.length, (await call(ops.opsListAudit, { cursor: null, limit: 200 })).data.length)
})
