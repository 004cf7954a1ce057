import { randomBytes, randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { withEngines } from '@pitboss/testing/with-engines'
import pino from 'pino'
import t from 'tap'
import { authStores } from '../../src/storage/auth-stores.ts'
import { authCollections } from '../../src/storage/collections.ts'
import { authIndexes } from '../../src/storage/indexes.ts'

type Ids = { apiKey: string; brandId: string; userId: string }

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const now = new Date()
const later = new Date(now.getTime() + 60_000)

const engines = await withEngines(t)
const storage = await connectStorage({
  url: engines.mongodbUrl,
  database: `${engines.databasePrefix}_auth`,
  logger: pino({ level: 'silent' }),
})
t.teardown(() => storage.close())
const { db } = storage
await ensureIndexes(db, authIndexes)
const cursors = createCursorCodec({
  keyring: parseKeyring(`k1:${randomBytes(32).toString('base64')}`),
})
const stores = authStores({ db, cursors })
const { brands, credentials, people, requestLogs } = stores
const ids = newIds()
await makeThings()

const { scoped, accountWide, internal, table } = linesFor<Ids>()
const page = { limit: 10 }
const made = 'makes a record with a scope; its id is ours, or of an idempotency key of that account'
const platform = 'of the platform, or an account itself under its own id'
const minting =
  'minting, which knows the account only by the key; its secret is checked before anything is said'
const signIn = 'signing in, which knows the account only by what a person alone has'
const news = 'telling the gateways what changed, over every account'

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: newIds(),
  folder: new URL('../../src/storage/', import.meta.url),
  stores: {
    authCollections: table(authCollections(db), {
      ...{ operators: internal(platform), platform: internal(platform), signingKeys: internal(platform) },
      refreshTokens: internal('by the hash of a cookie that one person alone has'),
      audits: internal('what operations did, over every account'),
    }),
    authStores: table(stores, {
      ...{ brands: internal('held below by itself'), credentials: internal('held below by itself') },
      ...{ people: internal('held below by itself'), requestLogs: internal('held below by itself') },
    }),
    createBrandsStore: table(brands, {
      insert: internal(made),
      page: accountWide((account) => brands.page(account, page)),
      first: accountWide((account) => brands.first(account, 10)),
      count: accountWide((account) => brands.count(account)),
      remove: accountWide((account, { brandId }) => brands.remove(account, brandId)),
    }),
    createCredentialsStore: table(credentials, {
      insert: internal(made),
      find: scoped((scope, { apiKey }) => credentials.find(scope, apiKey)),
      known: scoped((scope, { apiKey }) => credentials.known(scope, apiKey)),
      page: scoped((scope) => credentials.page(scope, page)),
      change: scoped((scope, { apiKey }) => credentials.change(scope, apiKey, { name: 'changed' })),
      rotate: scoped((scope, { apiKey }) => credentials.rotate(scope, apiKey, 'another hash', later)),
      active: accountWide((account, { apiKey }) => credentials.active(account, apiKey)),
      nearest: internal(minting),
      noteUse: internal(minting),
      isCurrent: internal(minting),
      present: internal('whether keys that were used are deleted by now, for the request log'),
      ...{
        untold: internal(news),
        latest: internal(news),
        told: internal(news),
        removeDeleted: internal(news),
      },
    }),
    createPeopleStore: table(people, {
      insert: internal(made),
      find: accountWide((account, { userId }) => people.find(account, userId)),
      known: accountWide((account, { userId }) => people.known(account, userId)),
      active: accountWide((account, { userId }) => people.active(account, userId)),
      page: accountWide((account) => people.page(account, page)),
      activeAmong: accountWide((account, { userId }) => people.activeAmong(account, [userId])),
      hasPassword: accountWide((account, { userId }) => people.hasPassword(account, userId, 'hash')),
      setPassword: accountWide((account, { userId }) => people.setPassword(account, userId, 'another hash')),
      noteLogin: accountWide((account, { userId }) => people.noteLogin(account, userId, later)),
      setRole: accountWide((account, { userId }) => people.setRole(account, userId, 'VIEWER')),
      remove: accountWide((account, { userId }) => people.remove(account, userId)),
      enrolTotp: accountWide((account, { userId }) => people.enrolTotp(account, userId, 'another')),
      removeTotp: accountWide((account, { userId }) => people.removeTotp(account, userId)),
      takeTotpStep: accountWide((account, { userId }) =>
        people.takeTotpStep(account, userId, { sealedSecret: 'sealed', step: 1 }, {}),
      ),
      takeRecoveryCode: accountWide((account, { userId }) =>
        people.takeRecoveryCode(account, userId, ['a recovery hash']),
      ),
      ...{ byEmail: internal(signIn), activeByEmail: internal(signIn), activeById: internal(signIn) },
      ...{ byInvitation: internal(signIn), accept: internal(signIn) },
      ...{ untold: internal(news), latest: internal(news), removeGone: internal(news), told: internal(news) },
    }),
    createRequestLogsStore: table(requestLogs, {
      append: internal('rows of the gateways, each with the scope of its request'),
      unlink: accountWide((account, { apiKey }) => requestLogs.unlink(account, [apiKey])),
      page: scoped((scope, { apiKey }) => requestLogs.page(scope, { api_key: apiKey }, page)),
    }),
  },
  others: ['endChains', 'readPage', 'untoldChange'],
})

function newIds(): Ids {
  return { apiKey: `pk_test_${randomUUID()}`, brandId: newId('brd'), userId: newId('usr') }
}

/** A brand, a key, a request made with it, and a person with an unconfirmed second factor. */
async function makeThings(): Promise<void> {
  const { apiKey, brandId, userId } = ids
  const { operatorId } = owner
  await brands.insert({ _id: brandId, operatorId, name: 'The brand', createdAt: now })
  await credentials.insert({
    ...{ _id: apiKey, order: newId('crd'), operatorId, environment: 'TEST', name: 'Key', secretHash: 'hash' },
    ...{ scopes: [], ipAllowlist: [], status: 'ACTIVE', createdAt: now, rotatedAt: null, revokedAt: null },
    ...{ lastUsedAt: null, accessPending: false },
  })
  await people.insert({
    ...{
      _id: userId,
      operatorId,
      email: 'owner@casino.example',
      name: 'Ada',
      role: 'ADMIN',
      status: 'ACTIVE',
    },
    ...{ passwordHash: 'hash', totp: { sealedSecret: 'sealed', confirmed: false, lastStep: 0 } },
    ...{ recoveryHashes: ['a recovery hash'], invitation: null, createdAt: now, lastLoginAt: null },
    accessPending: false,
  })
  await requestLogs.append([
    {
      ...{ _id: randomUUID(), order: `${now.toISOString()}/1`, ...owner, requestId: randomUUID(), at: now },
      ...{ method: 'GET', path: '/v1/games', status: 200, code: null, latencyMs: 3, apiKey },
      clientAddress: '192.0.2.1',
    },
  ])
}
