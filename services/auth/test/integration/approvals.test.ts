import { actedBy } from '@pitboss/contracts/audit'
import { needApproval } from '@pitboss/contracts/calls/approvals'
import { opsApprove } from '@pitboss/contracts/calls/auth-ops'
import * as people from '@pitboss/contracts/endpoints/people'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { ServiceError } from '@pitboss/errors/service-error'
import { claimsFor } from '@pitboss/testing/sign-token'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startApprovalCasino } from '../fixtures/approval-casino.ts'

const none = { params: {}, query: {}, body: undefined }
const idOf = (error: unknown): string => {
  if (error instanceof ServiceError && error.code === 'APPROVAL_NEEDED')
    return error.details?.[0]?.message ?? ''
  throw error
}
const asked = (work: Promise<unknown>) => work.then(() => 'done at once', idOf)
const userIdOf = ({ actor }: { actor: { kind: string } }) =>
  'user_id' in actor && typeof actor.user_id === 'string' ? actor.user_id : ''

t.test('an account alone cannot want a second person, and an OWNER alone decides', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, setSecondPerson, bus } = casino
  await t.rejects(setSecondPerson(admin, true), { code: 'FORBIDDEN', message: /Only an OWNER/ })
  const key = { ...owner, actor: { kind: 'credential' as const, api_key: 'ck_test_1', scopes: [] } }
  await t.rejects(setSecondPerson(key, true), { code: 'FORBIDDEN' })
  const remove = (user_id: string) =>
    bus.call(people.removeUser.call, { caller: owner, ...none, params: { user_id } })
  await remove(userIdOf(admin))
  await casino.add('DEVELOPER')
  await t.rejects(setSecondPerson(owner, true), { code: 'CONFLICT', message: /Nobody could approve/ })

  const second = await casino.add('ADMIN')
  t.equal((await setSecondPerson(owner, true)).body.second_person, true)
  await t.rejects(remove(userIdOf(second)), { code: 'CONFLICT', message: /second person/ })
  const demotion = { caller: owner, ...none, params: { user_id: userIdOf(second) } }
  await t.rejects(bus.call(people.patchUser.call, { ...demotion, body: { role: 'SUPPORT' } }), {
    code: 'CONFLICT',
  })
  const third = { email: 'third@casino.example', name: 'Third', role: 'ADMIN' as const }
  const body = { ...third, password: 'a long enough password' }
  const invite = () => bus.call(people.inviteUser.call, { caller: owner, ...none, body })
  await casino.approve(second, await asked(invite()))
  await invite()
  await remove(userIdOf(second))
  t.match(await casino.audit('business.change'), [{ before: {}, after: { second_person: true } }])
})

t.test('who says that nobody is needed, while nobody is, never undoes that somebody is', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, setSecondPerson, bus } = casino
  for (let turn = 0; turn < 20; turn++) {
    const unchanged = Array.from({ length: 3 }, () => setSecondPerson(admin, false))
    const [wanted] = await Promise.all([setSecondPerson(owner, true), Promise.allSettled(unchanged)])
    t.equal(wanted.status, 200)
    const { body } = await bus.call(endpoints.getBusiness.call, { caller: owner, ...none })
    t.equal(body.second_person, true, `turn ${turn}`)
    const asked: unknown = await setSecondPerson(owner, false).catch((error: unknown) => error)
    if (!(asked instanceof ServiceError)) return t.fail('it was ended by one person')
    const [waiting] = await casino.list('PENDING')
    t.equal((await casino.approve(admin, waiting?.approval_id ?? '')).status, 'DONE')
  }
})

t.test('a LIVE key is deleted by two people, and both are in the audit log', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, deleteKey } = casino
  t.equal(await deleteKey(admin, await casino.liveKey()), null, 'an account that wants none is free')
  await casino.setSecondPerson(owner, true)
  const key = await casino.liveKey()
  const id = (await deleteKey(admin, key)) ?? ''
  t.match(id, /^apr_/)
  t.equal(await deleteKey(admin, key), id, 'a repeat finds it again')
  await t.rejects(deleteKey(owner, key), { code: 'CONFLICT', message: new RegExp(id) })
  t.equal((await casino.keyOf(key)).status, 'ACTIVE', 'nothing was done')
  t.match(await casino.list('PENDING'), [
    {
      approval_id: id,
      act: 'credential.delete',
      object: { id: key },
      before: { name: 'Lobby' },
      after: null,
    },
  ])

  await t.rejects(casino.approve(admin, id), { code: 'FORBIDDEN', message: /Who asked/ })
  const done = await casino.approve(owner, id)
  t.match(done, { status: 'DONE', decided_by: { user_id: /^usr_/ }, outcome: null })
  await t.rejects(casino.keyOf(key), { code: 'NOT_FOUND' })
  t.strictSame(await casino.approve(owner, id), done, 'a repeat tells how it stands')
  await t.rejects(casino.reject(owner, id), { code: 'CONFLICT', message: /approved and done/ })
  const entries = (await casino.audit('credential.delete')).filter(({ object }) => object.id === key)
  t.match(entries, [{ actor: { id: done.asked_by.id }, approval: { approval_id: id, ...done.decided_by } }])
  t.equal(entries.length, 1)
  t.match(await casino.audit('approval.ask'), [{ actor: { id: done.asked_by.id }, object: { id } }])
  t.match(await casino.audit('approval.approve'), [{ actor: { id: done.decided_by?.user_id } }])
})

t.test('a key that somebody has changed since is not deleted', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin } = casino
  await casino.setSecondPerson(owner, true)
  const key = await casino.liveKey()
  const id = (await casino.deleteKey(admin, key)) ?? ''
  await casino.renameKey(key, 'Another')
  t.match(await casino.approve(owner, id), { status: 'STALE' })
  const endOf = async () => {
    const entries = await casino.audit('approval.end')
    return entries.length === 0 ? null : entries
  }
  t.match(await waitFor(endOf, { what: 'the end in the audit log' }), [
    {
      actor: { kind: 'service' },
      object: { id },
      before: { status: 'APPROVED' },
      after: { status: 'STALE' },
    },
  ])
  t.equal((await casino.keyOf(key)).name, 'Another')
  const next = (await casino.deleteKey(admin, key)) ?? ''
  t.not(next, id, 'it can be asked for anew')
  await casino.renameKey(key, 'A third')
  const last = (await casino.deleteKey(owner, key)) ?? next
  t.match(await casino.show(next), { status: 'STALE' }, 'what can no longer be done makes place')
  t.match(await casino.approve(admin, last), { status: 'DONE' })
})

t.test('one act on an object waits at a time, until it is rejected, stale or out of time', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, moveWallet } = casino
  const developer = await casino.add('DEVELOPER')
  t.equal(await moveWallet(admin), null, 'an account that wants none is free')
  await casino.setSecondPerson(owner, true)
  const asked = await Promise.all([1, 2, 3, 4].map(() => moveWallet(developer)))
  t.equal(new Set(asked).size, 1, 'at once they are one')
  const [id = ''] = asked
  await t.rejects(moveWallet(developer, 'https://wallet.example.com/c'), { code: 'CONFLICT' })
  await t.rejects(casino.reject(await casino.add('DEVELOPER'), id ?? ''), { code: 'FORBIDDEN' })
  t.match(await casino.reject(developer, id ?? ''), { status: 'REJECTED' }, 'who asked takes it back')
  await t.rejects(casino.approve(owner, id ?? ''), { code: 'CONFLICT', message: /rejected/ })

  const first = (await moveWallet(developer)) ?? ''
  const other = (await moveWallet(developer, 'https://wallet.example.com/c', '2')) ?? ''
  t.match(await casino.show(first), { status: 'STALE' }, 'the wallet has changed since')
  casino.answers.next = new ServiceError('CONFLICT', { message: 'Unresolved movements: 3.' })
  t.match(await casino.approve(admin, other), { status: 'REFUSED', outcome: 'Unresolved movements: 3.' })
  casino.answers.next = 'stale'
  const third = (await moveWallet(developer)) ?? ''
  t.match(await casino.approve(admin, third), { status: 'STALE' })
  t.strictSame(casino.done, [])

  casino.answers.next = 'done'
  const gone = (await moveWallet(developer)) ?? ''
  const { actor } = developer
  const user_id = actor.kind === 'user' ? actor.user_id : ''
  await casino.bus.call(people.patchUser.call, {
    ...{ caller: owner, ...none, params: { user_id }, body: { role: 'VIEWER' } },
  })
  await t.rejects(casino.approve(admin, gone), { code: 'CONFLICT', message: /may not do it/ })
  t.match(await casino.show(gone), { status: 'STALE' })
  t.strictSame(casino.done, [])
  const endsOf = async () => {
    const entries = await casino.audit('approval.end')
    return entries.length < 4 ? null : entries.map(({ object, after }) => [object.id, after?.status] as const)
  }
  const ends = await waitFor(endsOf, { what: 'four ends in the audit log' })
  t.strictSame(
    new Map(ends),
    new Map([
      [first, 'STALE'],
      [other, 'REFUSED'],
      [third, 'STALE'],
      [gone, 'STALE'],
    ]),
    'each end without a decision is in the audit log',
  )
  t.equal(ends.length, 4, 'and once')
})

t.test('to do without a second person again needs one', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, setSecondPerson } = casino
  await setSecondPerson(owner, true)
  const mixed = setSecondPerson(owner, false, { name: 'Palace' })
  await t.rejects(mixed, { code: 'VALIDATION_ERROR', message: /alone/ })
  await t.rejects(setSecondPerson(owner, false), { code: 'APPROVAL_NEEDED' })
  const [waiting] = await casino.list('PENDING')
  t.match(waiting, { act: 'business.change', before: { second_person: true } })
  const id = waiting?.approval_id ?? ''
  await t.rejects(casino.approve(owner, id), { code: 'FORBIDDEN' })
  t.match(await casino.approve(admin, id), { status: 'DONE' })
  const { body } = await casino.bus.call(endpoints.getBusiness.call, { caller: owner, ...none })
  t.equal(body.second_person, undefined)
  t.equal(await casino.deleteKey(owner, await casino.liveKey()), null)
})

t.test(
  'a service asks in the name of nobody whose token it has not, and for its own acts alone',
  async (t) => {
    const casino = await startApprovalCasino(t)
    const { owner, admin, bus, sign, operatorId } = casino
    await casino.setSecondPerson(owner, true)
    const ask = async (author: typeof owner, sender: typeof owner, order: GraveOrder) => {
      const sub = sender.actor.kind === 'user' ? sender.actor.user_id : ''
      const token = await sign(claimsFor('dashboard', sub, operatorId))
      const object = { type: order.act.split('.')[0] ?? '', id: 'LIVE' }
      const act = { by: actedBy(author, { requestId: 'req_asked' }), order, object, seen: '1' }
      const context = { requestId: 'req_asked', token }
      return bus.call(needApproval['wallet-bridge'], { ...act, before: null, after: null }, context)
    }
    const settings = { url: 'https://thief.example', timeout_ms: 5000, settle_losses: 'none' } as const
    const move = { act: 'wallet.put', settings } as const
    await t.rejects(ask(owner, admin, move), { code: 'INTERNAL_ERROR' }, 'with the token of another person')
    const end = { act: 'business.change', second_person: false } as const
    await t.rejects(ask(owner, owner, end), { code: 'VALIDATION_ERROR' }, 'what is no act of the wallet')
    t.strictSame(await casino.list(), [])
    t.match(await ask(owner, owner, move), { approval: { status: 'PENDING' } })
  },
)

t.test('an unscoped LIVE key and an OWNER or ADMIN are made by who asked, once it is approved', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, bus } = casino
  await casino.setSecondPerson(owner, true)
  const key = (body: object) =>
    bus.call(endpoints.createCredential.call, {
      ...{ caller: owner, ...none },
      body: { name: 'Lobby', environment: 'LIVE', scopes: [], ip_allowlist: [], ...body },
    })
  t.equal(await asked(key({ scopes: ['games:read'] })), 'done at once', 'a scoped key is no grave act')
  t.equal(await asked(key({ environment: 'TEST' })), 'done at once')
  const id = await asked(key({}))
  t.match(await casino.approve(admin, id), { act: 'credential.create', status: 'APPROVED' })
  t.match(await asked(key({ ip_allowlist: ['192.0.2.1'] })), /^apr_/, 'another key is not what was approved')
  t.match(await casino.show(id), { status: 'STALE' })
  const again = (await casino.list('PENDING'))[0]?.approval_id ?? ''
  t.match(await casino.reject(owner, again), { status: 'REJECTED' })

  const second = await asked(key({}))
  await casino.approve(admin, second)
  const made = await Promise.allSettled([key({}), key({}), key({})])
  const secrets = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.body.api_secret] : []))
  t.equal(secrets.length, 1, 'one key for one approval')
  t.match(secrets[0], /^cs_live_/, 'whose secret who asked is shown')
  t.match(await casino.show(second), { status: 'DONE' })
  const entries = await casino.audit('credential.create')
  t.match(
    entries.find(({ approval }) => approval !== undefined),
    { actor: { id: userIdOf(owner) }, approval: { approval_id: second, user_id: userIdOf(admin) } },
  )

  const boss = { email: 'boss@casino.example', name: 'Boss', role: 'OWNER' as const }
  const invite = () => bus.call(people.inviteUser.call, { caller: owner, ...none, body: boss })
  const invitation = await asked(invite())
  await casino.approve(admin, invitation)
  t.match((await invite()).body, { role: 'OWNER', status: 'INVITED', invite_url: /#token=/ })
  await casino.add('DEVELOPER')
})

t.test('a key is widened, a role raised and a guard ended as soon as it is approved', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, bus } = casino
  const viewer = await casino.add('VIEWER')
  const liveOwner = { ...owner, scope: { ...owner.scope, environment: 'LIVE' as const } }
  const body = { name: 'Reads', environment: 'LIVE' as const, scopes: ['games:read' as const] }
  const { body: made } = await bus.call(endpoints.createCredential.call, {
    ...{ caller: owner, ...none },
    body: { ...body, ip_allowlist: [] },
  })
  await bus.call(endpoints.patchBusiness.call, { caller: owner, ...none, body: { require_totp: true } })
  await casino.setSecondPerson(owner, true)
  const params = { api_key: made.api_key }
  const patchKey = (body: object) =>
    bus.call(endpoints.patchCredential.call, { caller: liveOwner, params, query: {}, body })
  t.equal(await asked(patchKey({ scopes: ['games:read', 'events:read'] })), 'done at once')
  const wider = await asked(patchKey({ scopes: [] }))
  t.strictSame((await casino.keyOf(made.api_key)).scopes.length, 2, 'nothing was done')
  t.match(await casino.approve(admin, wider), { act: 'credential.change', status: 'DONE' })
  t.strictSame((await casino.keyOf(made.api_key)).scopes, [])
  t.equal(await asked(patchKey({ ip_allowlist: ['192.0.2.1'] })), 'done at once', 'fewer addresses')
  t.match(await asked(patchKey({ ip_allowlist: [] })), /^apr_/, 'more addresses of an unscoped key')

  const role = (role: 'ADMIN' | 'SUPPORT') =>
    bus.call(people.patchUser.call, {
      ...{ caller: owner, ...none, params: { user_id: userIdOf(viewer) } },
      body: { role },
    })
  t.equal(await asked(role('SUPPORT')), 'done at once')
  const raised = await asked(role('ADMIN'))
  t.match(await casino.approve(admin, raised), { act: 'user.change', status: 'DONE' })
  const { body: all } = await bus.call(people.listUsers.call, {
    ...{ caller: owner, params: {}, body: undefined },
    query: { limit: 50 },
  })
  t.equal(all.data.find(({ user_id }) => user_id === userIdOf(viewer))?.role, 'ADMIN')

  const end = (caller: typeof owner) =>
    bus.call(endpoints.patchBusiness.call, { caller, ...none, body: { require_totp: false } })
  const id = await asked(end(admin))
  t.match(await casino.approve(owner, id), { act: 'business.change', status: 'DONE' })
  const { body: business } = await bus.call(endpoints.getBusiness.call, { caller: owner, ...none })
  t.match(business, { require_totp: false, second_person: true })
})

t.test(
  'who was added a short time ago approves nothing, and two of operations do in his place',
  async (t) => {
    const casino = await startApprovalCasino(t, { approverAgeS: 86_400 })
    const { owner, admin, bus, db, handle } = casino
    await casino.setSecondPerson(owner, true)
    const id = (await casino.deleteKey(owner, await scopedLiveKey())) ?? ''
    await t.rejects(casino.approve(admin, id), { code: 'FORBIDDEN', message: /short time ago/ })

    const approveAs = (by: string, operator = handle) => {
      const order = { by, reason: 'the second owner is ill', dryRun: false }
      return bus.call(opsApprove, { order, operator, approval_id: id })
    }
    t.match(await approveAs('ann'), { status: 'PENDING' }, 'one is not enough')
    await t.rejects(approveAs(' Ann '), { code: 'CONFLICT', message: /another person/ })
    const done = await approveAs('ben')
    t.match(done, { status: 'DONE', decided_by: { user_id: 'operations', email: 'ann, ben' } })
    const told = await casino.audit('approval.approve')
    t.match(told, [{ actor: { kind: 'operations', name: 'ben' } }, { actor: { name: 'ann' } }])

    const made = new Date(Date.now() - 86_400_000)
    const user_id = userIdOf(admin)
    await db.collection<{ _id: string }>('users').updateOne({ _id: user_id }, { $set: { createdAt: made } })
    const next = (await casino.deleteKey(owner, await scopedLiveKey())) ?? ''
    const order = { by: 'ann', reason: 'again', dryRun: false }
    await t.rejects(bus.call(opsApprove, { order, operator: handle, approval_id: next }), {
      code: 'CONFLICT',
      message: /Somebody of the account/,
    })
    t.match(await casino.approve(admin, next), { status: 'DONE' }, 'a day after he was added he may')

    async function scopedLiveKey() {
      const key = { name: 'Reads', environment: 'LIVE' as const, scopes: ['games:read' as const] }
      const made = await bus.call(endpoints.createCredential.call, {
        ...{ caller: owner, ...none },
        body: { ...key, ip_allowlist: [] },
      })
      return made.body.api_key
    }
  },
)
