import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { viewsMax } from '../../src/rules/account-rules.ts'
import { startTestAuth } from '../fixtures/start-test-auth.ts'

const none = { params: {}, query: {}, body: undefined }
const refused = { name: 'Refused today', page: '/rounds', query: 'status=FAILED&range=24h' }

async function startViews(t: Parameters<typeof startTestAuth>[0]) {
  const { bus, callerAs } = await startTestAuth(t)
  const owner = await callerAs(newId('usr'))
  const as = (role: 'ADMIN' | 'SUPPORT', email: string) => ({
    ...owner,
    actor: { kind: 'user' as const, user_id: newId('usr'), email, role },
  })
  type Who = typeof owner
  return {
    owner,
    admin: as('ADMIN', 'admin@casino.example'),
    support: as('SUPPORT', 'support@casino.example'),
    other: as('SUPPORT', 'other@casino.example'),
    save: async (caller: Who, more = {}) =>
      (await bus.call(endpoints.createView.call, { caller, ...none, body: { ...refused, ...more } })).body,
    list: async (query = {}) => {
      const asked = { limit: 50, ...query }
      return (await bus.call(endpoints.listViews.call, { caller: owner, ...none, query: asked })).body.data
    },
    remove: (caller: Who, view_id: string) =>
      bus.call(endpoints.deleteView.call, { caller, ...none, params: { view_id } }),
  }
}

t.test('a view is of the account, and one page has a name once', async (t) => {
  const { owner, support, save, list, remove } = await startViews(t)
  const made = await save(support)
  t.match(made, { ...refused, view_id: /^viw_/, made_by: { email: 'support@casino.example' } })
  const keyed = { ...owner, idempotencyKey: 'once' }
  const elsewhere = await save(keyed, { page: '/sessions' })
  t.strictSame(await save(keyed, { page: '/sessions' }), elsewhere, 'a repeat answers the first again')
  t.strictSame(await list(), [elsewhere, made])
  t.strictSame(await list({ page: '/rounds' }), [made])
  await t.rejects(save(owner), { code: 'CONFLICT', message: /of this name/ })
  await remove(owner, made.view_id)
  t.strictSame(await list({ page: '/rounds' }), [])
  await t.rejects(remove(owner, made.view_id), { code: 'NOT_FOUND' })
  t.match(await save(owner), refused, 'the name is free again')
})

t.test('a view is removed by who made it, an ADMIN or an OWNER', async (t) => {
  const { admin, support, other, save, list, remove } = await startViews(t)
  const { view_id } = await save(support)
  await t.rejects(remove(other, view_id), { code: 'FORBIDDEN', message: /support@casino\.example's/ })
  t.equal((await list()).length, 1)
  await remove(support, view_id)
  await remove(admin, (await save(support)).view_id)
  t.strictSame(await list(), [])
})

t.test('an account has a bounded number of views', async (t) => {
  const { owner, save } = await startViews(t)
  for (let view = 1; view <= viewsMax; view++) await save(owner, { name: `View ${view}` })
  await t.rejects(save(owner, { name: 'One more' }), { code: 'CONFLICT', message: /at most 200 views/ })
})
