import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import * as peopleEndpoints from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import t from 'tap'
import { viewsMax } from '../../src/rules/account-rules.ts'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }

await t.test('an account has so many keys and people, and no more', async (t) => {
  const auth = await authOnDatabase(t, { keys: 3, people: 3 })
  const account = async (name: string) => {
    const made = await auth.call(opsCreateOperator, {
      order: { by: 'test', reason: null, dryRun: false },
      ...{ name, email: `${name}@casino.example`, password: 'a long enough password' },
      ...{ plan: 'paid', approved: true, currencies: null },
    })
    return operatorIdOf(made.operator_id) ?? ''
  }
  const nobody = `usr_${'0'.repeat(26)}`
  const [full, other] = [await account('full'), await account('other')]
  const createKey = async (operatorId: string, environment: 'TEST' | 'LIVE', idempotencyKey?: string) => {
    const body = { name: 'Key', environment, scopes: [], ip_allowlist: [] }
    const caller = auth.callerAs(operatorId, nobody, idempotencyKey ?? null)
    return (await auth.call(endpoints.createCredential.call, { caller, ...none, body })).body
  }
  const invite = async (operatorId: string, index: number) => {
    const body = { email: `${index}@${operatorId}.example`, name: 'Person', role: 'VIEWER' } as const
    const caller = auth.callerAs(operatorId, nobody)
    return (await auth.call(peopleEndpoints.inviteUser.call, { caller, ...none, body })).body
  }

  const first = await createKey(full, 'TEST', 'first')
  await createKey(full, 'LIVE')
  await createKey(full, 'TEST')
  const noKey = { code: 'CONFLICT', message: 'An account has at most 3 keys; delete one first.' }
  await t.rejects(createKey(full, 'TEST'), noKey)
  await t.rejects(createKey(full, 'LIVE'), noKey, 'both environments count')
  t.equal((await createKey(full, 'TEST', 'first')).api_key, first.api_key, 'a repeat is the first key again')
  t.ok(await createKey(other, 'TEST'), 'another account has its own')
  const params = { api_key: first.api_key }
  await auth.call(endpoints.deleteCredential.call, { ...none, caller: auth.callerAs(full, nobody), params })
  t.ok(await createKey(full, 'TEST'), 'a deleted key leaves its place')

  const second = await invite(full, 1)
  await invite(full, 2)
  await t.rejects(invite(full, 3), {
    code: 'CONFLICT',
    message: 'An account has at most 3 people; remove one first.',
  })
  t.ok(await invite(other, 1))
  const removed = { ...none, caller: auth.callerAs(full, nobody), params: { user_id: second.user_id } }
  await auth.call(peopleEndpoints.removeUser.call, removed)
  t.ok(await invite(full, 4))
})

await t.test('requests at once do not pass a cap together', async (t) => {
  const auth = await authOnDatabase(t, { keys: 3, people: 3 })
  const made = await auth.call(opsCreateOperator, {
    order: { by: 'test', reason: null, dryRun: false },
    ...{ name: 'busy', email: 'busy@casino.example', password: 'a long enough password' },
    ...{ plan: 'paid', approved: true, currencies: null },
  })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const caller = (key: string | null = null) => auth.callerAs(operatorId, `usr_${'0'.repeat(26)}`, key)
  const createKey = (key: string | null) => {
    const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
    return auth.call(endpoints.createCredential.call, { ...none, caller: caller(key), body })
  }
  const invite = (index: number) => {
    const body = { email: `${index}@busy.example`, name: 'Person', role: 'VIEWER' } as const
    return auth.call(peopleEndpoints.inviteUser.call, { ...none, caller: caller(), body })
  }
  const saveView = (name: string, key: string | null = null) => {
    const body = { name, page: '/rounds', query: '' } as const
    return auth.call(endpoints.createView.call, { ...none, caller: caller(key), body })
  }
  const taken = async (requests: readonly Promise<unknown>[]) => {
    const ended = await Promise.allSettled(requests)
    for (const one of ended) if (one.status === 'rejected') t.match(one.reason, { code: 'CONFLICT' })
    return ended.filter(({ status }) => status === 'fulfilled').length
  }

  t.equal(await taken(Array.from({ length: 8 }, () => createKey(null))), 3)
  t.equal(await taken(Array.from({ length: 8 }, (_, index) => invite(index))), 2, 'the owner is the third')

  for (let view = 1; view < viewsMax; view++) await saveView(`View ${view}`)
  t.equal(await taken([saveView('last', 'last'), saveView('last', 'last')]), 2, 'equal requests are one')
  t.equal(await taken([saveView('other')]), 0)
  const repeated = await saveView('last', 'last')
  t.equal(repeated.body.name, 'last', 'a repeat needs no room')
})
