import { actedBy } from '@pitboss/contracts/audit'
import { needApproval } from '@pitboss/contracts/calls/approvals'
import * as people from '@pitboss/contracts/endpoints/people'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { ServiceError } from '@pitboss/errors/service-error'
import { claimsFor } from '@pitboss/testing/sign-token'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startApprovalCasino } from '../fixtures/approval-casino.ts'

const none = { params: {}, query: {}, body: undefined }

t.test('an account alone cannot want a second person, and an OWNER alone decides', async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin, setSecondPerson, bus } = casino
  await t.rejects(setSecondPerson(admin, true), { code: 'FORBIDDEN', message: /Only an OWNER/ })
  const key = { ...owner, actor: { kind: 'credential' as const, api_key: 'ck_test_1', scopes: [] } }
  await t.rejects(setSecondPerson(key, true), { code: 'FORBIDDEN' })
  const remove = (user_id: string) =>
    bus.call(people.removeUser.call, { caller: owner, ...none, params: { user_id } })
  const idOf = ({ actor }: typeof admin) => (actor.kind === 'user' ? actor.user_id : '')
  await remove(idOf(admin))
  await casino.add('DEVELOPER')
  await t.rejects(setSecondPerson(owner, true), { code: 'CONFLICT', message: /Nobody could approve/ })

  const second = await casino.add('ADMIN')
  t.equal((await setSecondPerson(owner, true)).body.second_person, true)
  await t.rejects(remove(idOf(second)), { code: 'CONFLICT', message: /second person/ })
  const demotion = { caller: owner, ...none, params: { user_id: idOf(second) } }
  await t.rejects(bus.call(people.patchUser.call, { ...demotion, body: { role: 'SUPPORT' } }), {
    code: 'CONFLICT',
  })
  await casino.add('ADMIN')
  await remove(idOf(second))
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

t.test('a service asks in the name of nobody whose token it has not, and for its own acts alone', async (t) => {
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
})
