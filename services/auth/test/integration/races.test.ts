import { randomUUID } from 'node:crypto'
import { mintToken, login, refreshLogin, resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import * as peopleEndpoints from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { hashBody } from '@pitboss/contracts/json'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import pino from 'pino'
import t from 'tap'
import { createPublishAccessChange } from '../../src/actions/publish-access-change.ts'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }
const order = { by: 'test', reason: null, dryRun: false }
const password = 'a long enough password'
const otherPassword = 'another long password'

/** An account with one owner who is signed in. */
async function account(t: Parameters<typeof authOnDatabase>[0]) {
  const auth = await authOnDatabase(t)
  const email = `owner-${randomUUID()}@casino.example`
  const made = await auth.call(opsCreateOperator, {
    order,
    name: 'Casino',
    email,
    password,
    plan: 'paid',
    approved: true,
    currencies: null,
  })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const signedIn = await auth.call(login, { email, password, totp: null })
  const ownerId = signedIn.body.user.user_id
  const caller = auth.callerAs(operatorId, ownerId)
  const withKey = (key: string) => auth.callerAs(operatorId, ownerId, key)
  const addUser = async (role: 'OWNER' | 'ADMIN') => {
    const body = { email: `second-${email}`, name: 'Second', role, password }
    return (await auth.call(peopleEndpoints.inviteUser.call, { caller, ...none, body })).body.user_id
  }
  const createKey = async (idempotencyKey: string | null = null) => {
    const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
    const from = { ...caller, idempotencyKey }
    return (await auth.call(endpoints.createCredential.call, { caller: from, ...none, body })).body
  }
  return { ...auth, email, operatorId, ownerId, caller, withKey, addUser, createKey, signedIn }
}

t.test('a change during the publication of another is published, even when its process dies', async (t) => {
  const {
    call,
    caller,
    createKey,
    stores,
    db,
    addUser,
    publishAccessChange,
    published,
    afterPut,
    operatorId,
  } = await account(t)
  const { api_key } = await createKey()
  const scope = { operatorId, environment: 'SANDBOX' as const }
  const rename = () =>
    call(endpoints.patchCredential.call, { caller, ...none, params: { api_key }, body: { name: 'New' } })
  const userId = await addUser('ADMIN')
  const toDeveloper = () =>
    call(peopleEndpoints.patchUser.call, {
      caller,
      ...none,
      params: { user_id: userId },
      body: { role: 'DEVELOPER' },
    })
  const cases: [what: string, key: string, first: () => Promise<unknown>, second: () => Promise<unknown>][] =
    [
      [
        'revocation of a key',
        `credential.${api_key}`,
        rename,
        () => stores.credentials.change(scope, api_key, { status: 'REVOKED' }, sampleAuditEntry()),
      ],
      [
        'deletion of a key',
        `credential.${api_key}`,
        rename,
        () => stores.credentials.change(scope, api_key, { status: 'DELETED' }, sampleAuditEntry()),
      ],
      [
        'demotion of a person',
        `user.${userId}`,
        toDeveloper,
        () => stores.people.setRole({ operatorId }, userId, 'VIEWER', sampleAuditEntry()),
      ],
      [
        'removal of a person',
        `user.${userId}`,
        toDeveloper,
        () => stores.people.remove({ operatorId }, userId, sampleAuditEntry()),
      ],
    ]
  for (const [what, key, first, second] of cases) {
    afterPut.fn = async () => {
      await second()
    }
    await first()
    published.length = 0
    await publishAccessChange.sweep()
    t.strictSame(published, [key], `the ${what} is published`)
    await publishAccessChange.sweep()
    t.strictSame(published, [key], 'once')
  }
  t.equal(await db.collection('operators').countDocuments({ accessPending: true }), 0)
})

t.test('an unpublished change of an older version, which has no name, is published once', async (t) => {
  const { db, operatorId, publishAccessChange, published } = await account(t)
  await db
    .collection<{ _id: string }>('operators')
    .updateOne({ _id: operatorId }, { $set: { accessPending: true }, $unset: { accessChange: '' } })
  await publishAccessChange.sweep()
  await publishAccessChange.sweep()
  t.strictSame(published, [`operator.${operatorId}`])
})

t.test('a change that cannot be published holds up no other', async (t) => {
  const { stores, createKey, operatorId } = await account(t)
  const [first, second] = [await createKey(), await createKey()]
  const scope = { operatorId, environment: 'SANDBOX' as const }
  for (const { api_key } of [first, second])
    await stores.credentials.change(scope, api_key, { name: 'New' }, sampleAuditEntry())
  const published: string[] = []
  const latest = async (apiKey: string) => {
    if (apiKey === first.api_key) throw new Error('this one is broken')
    return stores.credentials.latest(apiKey)
  }
  const publishAccessChange = createPublishAccessChange({
    stores: { ...stores, credentials: { ...stores.credentials, latest } },
    audit: { move: async () => undefined },
    bucket: { put: async (key) => published.push(key), heartbeat: async () => undefined },
    logger: pino({ level: 'silent' }),
  })
  await publishAccessChange.sweep()
  t.ok(published.includes(`credential.${second.api_key}`))
  t.strictSame(await stores.credentials.unpublished(10), [first.api_key], 'the broken one stays unpublished')
})

t.test('the write that takes ownership from a person also leaves the change to be published', async (t) => {
  const { addUser, caller, call, ownerId, publishAccessChange, published, operatorId, afterRole } =
    await account(t)
  await addUser('OWNER')
  await publishAccessChange.sweep()
  published.length = 0
  afterRole.fn = async () => {
    throw new Error('the process died')
  }
  const params = { user_id: ownerId }
  await t.rejects(call(peopleEndpoints.patchUser.call, { caller, ...none, params, body: { role: 'VIEWER' } }))
  await publishAccessChange.sweep()
  t.ok(published.includes(`operator.${operatorId}`) || published.includes(`user.${ownerId}`))
})

t.test('a person who is removed while becoming an owner does not count as one', async (t) => {
  const { addUser, caller, call, ownerId, afterRole } = await account(t)
  const secondId = await addUser('ADMIN')
  const second = { user_id: secondId }
  afterRole.fn = async () => {
    await call(peopleEndpoints.removeUser.call, { caller, ...none, params: second })
  }
  const promoted = call(peopleEndpoints.patchUser.call, {
    caller,
    ...none,
    params: second,
    body: { role: 'OWNER' },
  })
  await promoted.catch(() => undefined)
  await t.rejects(
    call(peopleEndpoints.patchUser.call, {
      caller,
      ...none,
      params: { user_id: ownerId },
      body: { role: 'VIEWER' },
    }),
    { code: 'CONFLICT' },
    'the only person left stays the owner',
  )
})

t.test('a change of the password ends a login under way', async (t) => {
  const { call, email, caller, afterPassword, db } = await account(t)
  afterPassword.fn = async () => {
    const body = { current_password: password, new_password: otherPassword }
    await call(peopleEndpoints.changePassword.call, { caller, ...none, body })
  }
  await t.rejects(call(login, { email, password, totp: null }), { code: 'INVALID_CREDENTIALS' })
  t.equal(await db.collection('refresh_tokens').countDocuments({}), 0, 'no refresh token of it is left')
})

t.test('a refresh token that is made while its family ends, ends too', async (t) => {
  const { call, signedIn, afterPerson, caller } = await account(t)
  const { refreshToken } = signedIn
  afterPerson.fn = async () => {
    await t.rejects(call(refreshLogin, { refreshToken }), { code: 'INVALID_CREDENTIALS' })
  }
  const second = await call(refreshLogin, { refreshToken })
  await t.rejects(
    call(refreshLogin, { refreshToken: second.refreshToken }),
    { code: 'INVALID_CREDENTIALS' },
    'a refresh token that was used twice at once',
  )

  const email = signedIn.body.user.email
  const third = await call(login, { email, password, totp: null })
  afterPerson.fn = async () => {
    const body = { current_password: password, new_password: otherPassword }
    await call(peopleEndpoints.changePassword.call, { caller, ...none, body })
  }
  const fourth = await call(refreshLogin, { refreshToken: third.refreshToken })
  await t.rejects(
    call(refreshLogin, { refreshToken: fourth.refreshToken }),
    { code: 'INVALID_CREDENTIALS' },
    'a refresh token that was renewed while the password changed',
  )
})

t.test('invitations at once under one idempotency key add one person and get the same answer', async (t) => {
  const { call, withKey, db, email } = await account(t)
  const body = { email: `new-${email}`, name: 'New', role: 'VIEWER' as const, password }
  const invite = () => call(peopleEndpoints.inviteUser.call, { caller: withKey('once'), ...none, body })
  const answers = await Promise.all([invite(), invite(), invite()])
  t.equal(new Set(answers.map((answer) => answer.body.user_id)).size, 1)
  const claims = await db.collection('idempotency_keys').find({}).toArray()
  t.equal(claims.length, 1)
  t.not(claims[0]?.bodyHash, hashBody(body), 'the kept hash of the body is no quick hash of the password')
})

t.test('a repeated creation does not bring back a deleted key', async (t) => {
  const { call, caller, createKey, operatorId } = await account(t)
  const { api_key, api_secret = '' } = await createKey('once')
  t.ok(await call(mintToken, { api_key, api_secret, clientAddress: '127.0.0.1' }))
  await call(endpoints.deleteCredential.call, { caller, ...none, params: { api_key } })
  const again = await createKey('once')
  t.not(again.api_key, api_key)
  const old = await call(resolvePrincipal, { kind: 'credential', operatorId, apiKey: api_key })
  t.equal(old.active, false, 'its tokens stay invalid')
})

t.test('a key that is revoked while it is rotated is one that cannot be rotated', async (t) => {
  const { call, caller, createKey, stores } = await account(t)
  const asked = { ...none, caller, params: { api_key: (await createKey()).api_key } }
  const { find } = stores.credentials
  const revokedAfterRead: typeof find = async (...of) => {
    const found = await find(...of)
    stores.credentials.find = find
    await call(endpoints.revokeCredential.call, asked)
    return found
  }
  stores.credentials.find = revokedAfterRead
  await t.rejects(call(endpoints.rotateCredential.call, asked), { code: 'CONFLICT', message: /revoked/ })
})
