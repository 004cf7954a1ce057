import { mintToken, resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { opsSetOperator } from '@pitboss/contracts/calls/auth-ops'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { startTestAuth } from '../fixtures/start-test-auth.ts'

const nobody = `usr_${'0'.repeat(26)}`
const none = { params: {}, query: {}, body: undefined }

t.test('a key pair lives from creation to deletion', async (t) => {
  const { bus, callerAs, operatorId, handle, order } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const mint = (api_key: string, api_secret: string, clientAddress = '127.0.0.1') =>
    bus.call(mintToken, { api_key, api_secret, clientAddress })
  const create = async (environment: 'TEST' | 'LIVE', extra = {}) => {
    const body = { name: 'Key', environment, scopes: [], ip_allowlist: [], ...extra }
    return (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body
  }

  const made = await create('TEST')
  t.match(made.api_key, /^ck_test_[0-9A-Za-z]{24}$/)
  t.match(made.api_secret, /^cs_test_[0-9A-Za-z]{40}$/)
  const secret = made.api_secret ?? ''
  const token = await mint(made.api_key, secret)
  t.match(token, { token_type: 'Bearer', expires_in: 3600, operator: { id: handle, mode: 'TEST' } })

  await t.rejects(
    mint(made.api_key, `${secret.slice(0, -1)}_`),
    { code: 'INVALID_CREDENTIALS' },
    'a wrong secret mints nothing',
  )
  await t.rejects(
    mint('ck_test_000000000000000000000000', secret),
    { code: 'INVALID_CREDENTIALS' },
    'an unknown key mints nothing',
  )

  const params = { api_key: made.api_key }
  const rotated = await bus.call(endpoints.rotateCredential.call, { caller, ...none, params })
  await t.rejects(mint(made.api_key, secret), { code: 'INVALID_CREDENTIALS' }, 'the old secret stops at once')
  t.ok(await mint(made.api_key, rotated.body.api_secret ?? ''), 'the new secret mints')

  const pinned = await create('LIVE', { ip_allowlist: ['10.1.0.0/16'] })
  await t.rejects(
    mint(pinned.api_key, 'cs_live_wrong'),
    { code: 'IP_NOT_ALLOWED' },
    'the address is checked before the secret',
  )
  t.match(
    await mint(pinned.api_key, pinned.api_secret ?? '', '::ffff:10.1.2.3'),
    { operator: { mode: 'LIVE' } },
    'a mapped address counts as v4',
  )

  await bus.call(opsSetOperator, { order, operator: handle, plan: 'free' })
  await t.rejects(
    mint(pinned.api_key, pinned.api_secret ?? '', '10.1.2.3'),
    { code: 'FORBIDDEN', message: /"free" plan/ },
    'a lapsed plan mints no live token',
  )
  await t.rejects(create('LIVE'), { code: 'FORBIDDEN' })
  await bus.call(opsSetOperator, { order, operator: handle, suspended: true })
  await t.rejects(mint(made.api_key, rotated.body.api_secret ?? ''), { code: 'OPERATOR_SUSPENDED' })
  await bus.call(opsSetOperator, { order, operator: handle, suspended: false })

  const resolve = () => bus.call(resolvePrincipal, { kind: 'credential', operatorId, apiKey: made.api_key })
  t.equal((await resolve()).active, true)
  const revoked = await bus.call(endpoints.revokeCredential.call, { caller, ...none, params })
  t.equal(revoked.body.status, 'REVOKED')
  t.equal((await resolve()).active, false)
  await bus.call(endpoints.deleteCredential.call, { caller, ...none, params })
  await t.rejects(bus.call(endpoints.getCredential.call, { caller, ...none, params }), { code: 'NOT_FOUND' })
  await t.rejects(create('TEST', { ip_allowlist: ['010.0.0.1'] }), {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'ip_allowlist.0' }],
  })
})

t.test('an old secret mints no token after the answer of a rotation, with 50 mints under way', async (t) => {
  const { bus, callerAs } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
  const made = (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body
  const old = { api_key: made.api_key, api_secret: made.api_secret ?? '', clientAddress: '127.0.0.1' }
  const before = Array.from({ length: 50 }, () =>
    bus.call(mintToken, old).then(
      () => 'minted',
      () => 'refused',
    ),
  )
  await bus.call(endpoints.rotateCredential.call, { caller, ...none, params: { api_key: made.api_key } })
  const after = await Promise.all(
    Array.from({ length: 50 }, () =>
      bus.call(mintToken, old).then(
        () => 'minted',
        () => 'refused',
      ),
    ),
  )
  await Promise.all(before)
  t.strictSame(new Set(after), new Set(['refused']))
})

t.test('a creation repeated under its key answers the same credential without its secret', async (t) => {
  const { bus, callerAs } = await startTestAuth(t)
  const caller = await callerAs(nobody, { idempotencyKey: 'once' })
  const body = {
    name: 'Key',
    environment: 'TEST' as const,
    scopes: ['sessions:read' as const],
    ip_allowlist: [],
  }
  const first = (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body
  const again = (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body
  t.equal(again.api_key, first.api_key)
  t.equal(again.api_secret, undefined)
  await t.rejects(
    bus.call(endpoints.createCredential.call, { caller, ...none, body: { ...body, name: 'Other' } }),
    { code: 'CONFLICT' },
  )
  const inLive = { ...caller, scope: { ...caller.scope, environment: 'LIVE' as const } }
  const live = { ...body, environment: 'LIVE' as const }
  await t.rejects(
    bus.call(endpoints.createCredential.call, { caller: inLive, ...none, body: live }),
    { code: 'CONFLICT' },
    'also with another environment',
  )
})

t.test('an account has one brand of a name', async (t) => {
  const { bus, callerAs } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const create = (name: string, idempotencyKey: string | null = null) =>
    bus.call(endpoints.createBrand.call, { caller: { ...caller, idempotencyKey }, ...none, body: { name } })
  const first = await create('Lucky', 'key-1')
  t.same(await create('Lucky', 'key-1'), first, 'a repeat under its key answers the first again')
  await t.rejects(create('Lucky'), { code: 'CONFLICT' })
  await bus.call(endpoints.deleteBrand.call, { caller, ...none, params: { brand_id: first.body.brand_id } })
  t.match(await create('Lucky'), { status: 201 }, 'the name is free again')
})

t.test('the default jurisdiction of account and brands goes along with every call', async (t) => {
  const { bus, callerAs } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const patch = async (default_jurisdiction: 'UK' | 'NONE') =>
    (await bus.call(endpoints.patchBusiness.call, { caller, ...none, body: { default_jurisdiction } })).body
  const business = async () => (await bus.call(endpoints.getBusiness.call, { caller, ...none })).body
  t.notOk('default_jurisdiction' in (await business()), 'its record is as it always was')
  t.equal((await patch('UK')).default_jurisdiction, 'UK')
  for (const [name, default_jurisdiction] of [
    ['Plain', undefined],
    ['Lucky', 'ON'],
    ['Free', 'NONE'],
  ] as const) {
    const body = { name, ...(default_jurisdiction === undefined ? {} : { default_jurisdiction }) }
    const made = (await bus.call(endpoints.createBrand.call, { caller, ...none, body })).body
    t.equal(made.default_jurisdiction, default_jurisdiction)
    t.equal('default_jurisdiction' in made, default_jurisdiction !== undefined)
  }
  const { account } = await callerAs(nobody)
  t.match(account, {
    default_jurisdiction: 'UK',
    brands: [
      { name: 'Plain' },
      { name: 'Lucky', default_jurisdiction: 'ON' },
      { default_jurisdiction: 'NONE' },
    ],
  })
  t.notOk('default_jurisdiction' in (await patch('NONE')))
  t.notOk('default_jurisdiction' in (await business()))
})

t.test('a DEVELOPER makes, widens and rotates scoped TEST keys alone', async (t) => {
  const { bus, callerAs } = await startTestAuth(t)
  const owner = await callerAs(newId('usr'))
  const actor = { kind: 'user' as const, user_id: newId('usr'), email: 'dev@casino.example' }
  const developer = { ...owner, actor: { ...actor, role: 'DEVELOPER' as const } }
  const create = async (caller: typeof owner, environment: 'TEST' | 'LIVE', scopes: 'games:read'[]) => {
    const body = { name: 'Key', environment, scopes, ip_allowlist: [] }
    return (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body.api_key
  }
  const forbidden = { code: 'FORBIDDEN' }
  await t.rejects(create(developer, 'TEST', []), forbidden)
  await t.rejects(create(developer, 'LIVE', ['games:read']), forbidden)
  const own = { api_key: await create(developer, 'TEST', ['games:read']) }
  const unscoped = { api_key: await create(owner, 'TEST', []) }
  const patch = (params: typeof own, scopes: 'games:read'[]) =>
    bus.call(endpoints.patchCredential.call, { caller: developer, ...none, params, body: { scopes } })
  const rotate = (params: typeof own) =>
    bus.call(endpoints.rotateCredential.call, { caller: developer, ...none, params })
  await t.rejects(patch(own, []), forbidden, 'no scopes are all scopes')
  await t.rejects(patch(unscoped, ['games:read']), forbidden, "another's key stays as it is")
  await t.rejects(rotate(unscoped), forbidden)
  t.ok(await patch(own, ['games:read']))
  t.ok((await rotate(own)).body.api_secret)
})
