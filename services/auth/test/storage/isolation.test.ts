import { randomBytes, randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import type { ApprovalDocument } from '../../src/storage/approvals-store.ts'
import { authIndexes, authStores } from '../../src/storage/auth-stores.ts'

type Ids = {
  approvalId: string
  approvedId: string
  apiKey: string
  brandId: string
  viewId: string
  userId: string
}

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const now = new Date()
const later = new Date(now.getTime() + 60_000)
const session = {
  ...{ id: 'fam_1', createdAt: now, lastUsedAt: now, expiresAt: later },
  ...{ clientAddress: null, userAgent: null },
}

const db = await openTestDatabase(t)
await ensureIndexes(db, authIndexes)
const cursors = createCursorCodec({
  keyring: parseKeyring(`k1:${randomBytes(32).toString('base64')}`),
})
const stores = authStores({ db, cursors })
const { approvals, audits, brands, credentials, operators, views } = stores
const { people, platform, refreshTokens, requestLogs, signingKeys } = stores
const ids = newIds()
const entry = sampleAuditEntry(owner.operatorId)
const decidedBy = { userId: newId('usr'), email: 'second@casino.example' }
const knownEntry = sampleAuditEntry(owner.operatorId)
await makeThings()

const { scoped, accountWide, internal, table } = linesFor<Ids>()
const page = { limit: 10 }
const scopedRecord =
  'inserts a record that names its own account; its id is ours or one claimed by that account'
const chains = 'called by sign-audit-heads.ts and for operations, which verify the chain of every account'
const orders = 'called for orders of operations people alone, who work on every account'
const platformWide = 'belongs to the platform; no record of it names an account'
const minting = 'called by mint-token.ts alone, which knows an account by the api_key and checks its secret'
const signIn = 'called for a person who signs in, by an address, invitation or id of a verified refresh token'
const cookie = 'called by log-in.ts with the hash of a cookie value, which one person alone holds'
const publishing = 'called by publish-access-change.ts alone, which publishes the changes of every account'

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: newIds(),
  folder: new URL('../../src/storage/', import.meta.url),
  stores: {
    authStores: table(stores, {
      approvals: internal('has its own table below'),
      ...{ audits: internal('has its own table below'), brands: internal('has its own table below') },
      views: internal('has its own table below'),
      ...{
        credentials: internal('has its own table below'),
        idempotency: internal('libs/storage/src/idempotency-keys.ts, with the scope of its caller'),
      },
      ...{ operators: internal('has its own table below'), people: internal('has its own table below') },
      ...{
        platform: internal('has its own table below'),
        refreshTokens: internal('has its own table below'),
      },
      ...{
        requestLogs: internal('has its own table below'),
        signingKeys: internal('has its own table below'),
      },
    }),
    createApprovalsStore: table(approvals, {
      insert: internal(scopedRecord),
      find: accountWide((account, { approvalId }) => approvals.find(account, approvalId)),
      openOf: accountWide((account, { apiKey }) =>
        approvals.openOf(account, { type: 'credential', id: apiKey }),
      ),
      page: accountWide((account) => approvals.page(account, page)),
      noteOperations: accountWide((account, { approvalId }) =>
        approvals.noteOperations(account, approvalId, { by: 'ann', reason: null, at: now }, entry),
      ),
      approve: accountWide((account, { approvalId }) =>
        approvals.approve(account, approvalId, { decidedBy, now, dueAt: later, expiresAt: later }, entry),
      ),
      postpone: accountWide((account, { approvedId }) =>
        approvals.postpone(account, approvedId, new Date(later.getTime() + 1)),
      ),
      end: accountWide((account, { approvedId }) =>
        approvals.end(account, approvedId, 'APPROVED', { status: 'DONE', outcome: null, now }, entry),
      ),
      reject: accountWide((account, { approvalId }) =>
        approvals.reject(account, approvalId, { decidedBy, now }, entry),
      ),
      due: internal('called by carry-out.ts alone, which carries out what every account has approved'),
    }),
    createAuditsStore: table(audits, {
      append: internal('inserts entries, each of which names the account of its change'),
      has: accountWide((account) => audits.has(account, knownEntry.audit_id)),
      page: accountWide((account) => audits.page(account, {}, page)),
      pageOfOperations: internal(orders),
      links: internal(chains),
      unlinked: internal(chains),
      head: accountWide((account) => audits.head(account)),
      headOfPlatform: internal(chains),
      headsDue: internal(chains),
      lastLink: internal(chains),
      sign: internal(chains),
    }),
    createOperatorsStore: table(operators, {
      insert: internal(orders),
      page: internal(orders),
      remove: accountWide((account) => operators.remove(account)),
      find: accountWide((account) => operators.find(account)),
      change: accountWide((account) => operators.change(account, { name: 'changed' }, entry)),
      endGuard: accountWide((account) => operators.endGuard(account, 'secondPerson', newId('apr'), entry)),
      owners: accountWide((account) => operators.owners(account)),
      addOwner: accountWide((account) => operators.addOwner(account, newId('usr'))),
      removeInactiveOwners: accountWide((account, { userId }) =>
        operators.removeInactiveOwners(account, [userId]),
      ),
      removeOwner: accountWide((account, { userId }) => operators.removeOwner(account, userId)),
      ...{ unpublished: internal(publishing), markPublished: internal(publishing) },
    }),
    createPlatformStore: table(platform, {
      ...{ find: internal(platformWide), isRealMoneyOn: internal(platformWide) },
      ...{ setRealMoney: internal(platformWide), databaseVersion: internal(platformWide) },
      ...{ unpublished: internal(platformWide), markPublished: internal(platformWide) },
    }),
    createRefreshTokensStore: table(refreshTokens, {
      ...{ insert: internal(cookie), find: internal(cookie), use: internal(cookie) },
      end: internal('called with the family or the person of a record that the caller was checked for'),
    }),
    createSigningKeysStore: table(signingKeys, {
      ...{ current: internal(platformWide), insertCurrent: internal(platformWide) },
      ...{ retireCurrent: internal(platformWide), newest: internal(platformWide) },
      notWithdrawn: internal(platformWide),
      ...{ withdraw: internal(platformWide), endedUnpublished: internal(platformWide) },
      ...{ unpublished: internal(platformWide), markPublished: internal(platformWide) },
    }),
    createBrandsStore: table(brands, {
      insert: internal(scopedRecord),
      page: accountWide((account) => brands.page(account, page)),
      first: accountWide((account) => brands.first(account, 10)),
      count: accountWide((account) => brands.count(account)),
      find: accountWide((account, { brandId }) => brands.find(account, brandId)),
      remove: accountWide((account, { brandId }) => brands.remove(account, brandId, entry)),
    }),
    createViewsStore: table(views, {
      insert: internal(scopedRecord),
      page: accountWide((account) => views.page(account, page)),
      count: accountWide((account) => views.count(account)),
      find: accountWide((account, { viewId }) => views.find(account, viewId)),
      remove: accountWide((account, { viewId }) => views.remove(account, viewId, entry)),
    }),
    createCredentialsStore: table(credentials, {
      insertOnce: internal(scopedRecord),
      count: accountWide((account) => credentials.count(account, 10)),
      find: scoped((scope, { apiKey }) => credentials.find(scope, apiKey)),
      known: scoped((scope, { apiKey }) => credentials.known(scope, apiKey)),
      page: scoped((scope) => credentials.page(scope, page)),
      change: scoped((scope, { apiKey }) => credentials.change(scope, apiKey, { name: 'changed' }, entry)),
      rotate: scoped((scope, { apiKey }) => credentials.rotate(scope, apiKey, 'another hash', later, entry)),
      changeSeen: internal('takes a document that the caller has read within a scope'),
      active: accountWide((account, { apiKey }) => credentials.active(account, apiKey)),
      nearest: internal(minting),
      noteUse: internal(minting),
      noteScopes: internal('called by record-requests.ts alone, for the keys that a gateway has identified'),
      activeHash: internal(minting),
      renewSecretHash: internal(minting),
      present: internal('called by record-requests.ts alone, and answers it with given keys alone'),
      ...{ unpublished: internal(publishing), markPublished: internal(publishing) },
      ...{ latest: internal(publishing), removeDeleted: internal(publishing) },
    }),
    createPeopleStore: table(people, {
      insert: internal(scopedRecord),
      count: accountWide((account) => people.count(account, 10)),
      find: accountWide((account, { userId }) => people.find(account, userId)),
      known: accountWide((account, { userId }) => people.known(account, userId)),
      active: accountWide((account, { userId }) => people.active(account, userId)),
      page: accountWide((account) => people.page(account, page)),
      sessionsPage: internal('reads the sessions of a person who was found already'),
      countApprovers: accountWide((account) => people.countApprovers(account, null, 10)),
      activeAmong: accountWide((account, { userId }) => people.activeAmong(account, [userId])),
      setPassword: accountWide((account, { userId }) =>
        people.setPassword(account, userId, 'another hash', entry),
      ),
      startSession: accountWide((account, { userId }) =>
        people.startSession(account, userId, 'hash', { ...session, id: 'a new one' }, entry),
      ),
      rehash: accountWide((account, { userId }) => people.rehash(account, userId, 'hash', 'another hash')),
      takeTry: accountWide((account, { userId }) => people.takeTry(account, userId, 'codeTries', 0, later)),
      forgetTries: accountWide((account, { userId }) => people.forgetTries(account, userId, 'codeTries')),
      endSession: accountWide((account, { userId }) => people.endSession(account, userId, session.id, entry)),
      ...{ renewSession: internal(signIn), adoptSession: internal(signIn), withEmail: internal(orders) },
      setRole: accountWide((account, { userId }) => people.setRole(account, userId, 'VIEWER', entry)),
      remove: accountWide((account, { userId }) => people.remove(account, userId, entry)),
      enrolTotp: accountWide((account, { userId }) => people.enrolTotp(account, userId, 'another', entry)),
      removeTotp: accountWide((account, { userId }) => people.removeTotp(account, userId, entry)),
      takeTotpStep: accountWide((account, { userId }) =>
        people.takeTotpStep(account, userId, { sealedSecret: 'sealed', step: 1 }, null),
      ),
      takeRecoveryCode: accountWide((account, { userId }) =>
        people.takeRecoveryCode(account, userId, ['a recovery hash']),
      ),
      activeWithEmail: internal(signIn),
      ...{ byInvitation: internal(signIn), accept: internal(signIn) },
      ...{ unpublished: internal(publishing), markPublished: internal(publishing) },
      ...{ latest: internal(publishing), deleteRemoved: internal(publishing) },
    }),
    createRequestLogsStore: table(requestLogs, {
      append: internal('inserts rows of the gateways, each of which names the scope of its request'),
      unlink: accountWide((account, { apiKey }) => requestLogs.unlink(account, [apiKey])),
      refused: scoped((scope) => requestLogs.refused(scope, new Date(0), 10)),
      page: scoped((scope, { apiKey }) => requestLogs.page(scope, { api_key: apiKey }, page)),
    }),
  },
  others: ['accessChangesIn', 'readPage', 'secondFactorsIn', 'unpublishedChange'],
})

function newIds(): Ids {
  const apiKey = `ck_test_${randomUUID()}`
  return {
    approvalId: newId('apr'),
    approvedId: newId('apr'),
    apiKey,
    brandId: newId('brd'),
    viewId: newId('viw'),
    userId: newId('usr'),
  }
}

/**
 * Makes an account, a brand, a key, a request with it and a person with an unconfirmed second factor.
 */
async function makeThings(): Promise<void> {
  const { approvalId, apiKey, brandId, viewId, userId } = ids
  const { operatorId } = owner
  await operators.insert({
    ...{ _id: operatorId, name: 'Casino', plan: 'paid', approved: true, suspended: false, livePlay: 'on' },
    ...{
      currencies: ['EUR'],
      timezone: 'UTC',
      secondPerson: true,
      owners: [userId, newId('usr')],
      createdAt: now,
    },
    accessPending: false,
  })
  await audits.append([{ entry: knownEntry, source: 'auth', proof: 'none' }], new Date())
  const signed = { seq: 1, hash: 'x', at: now, jws: 'x' }
  await audits.sign({ _id: operatorId, unsigned: null, dueAt: now }, signed, later)
  await brands.insert({ _id: brandId, operatorId, name: 'The brand', createdAt: now })
  await views.insert({
    ...{ _id: viewId, operatorId, page: '/rounds', name: 'The view', query: '', createdAt: now },
    madeBy: { userId, email: 'owner@casino.example' },
  })
  const approval: ApprovalDocument = {
    ...{ _id: approvalId, operatorId, object: { type: 'credential', id: apiKey }, seen: '', before: {} },
    order: { act: 'credential.delete', environment: 'LIVE', api_key: apiKey },
    ...{ after: null, status: 'PENDING', open: true, dueAt: later, askedAt: now, expiresAt: later },
    ...{ decidedBy: null, decidedAt: null, endedAt: null, outcome: null },
    by: {
      ...{
        operator_id: operatorId,
        actor: entry.actor,
        client_address: null,
        request_id: null,
        reason: null,
      },
    },
  }
  await approvals.insert(approval)
  const object = { type: 'game', id: 'dice' }
  await approvals.insert({ ...approval, _id: ids.approvedId, object, status: 'APPROVED' })
  await credentials.insertOnce(owner, {
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
    sessions: [session],
    ...{ recoveryHashes: ['a recovery hash'], invitation: null, createdAt: now, lastLoginAt: null },
    accessPending: false,
  })
  await requestLogs.append([
    {
      ...{ _id: randomUUID(), order: `${now.toISOString()}/1`, ...owner, requestId: randomUUID(), at: now },
      ...{ method: 'GET', path: '/v1/games', status: 404, code: null, latencyMs: 3, apiKey },
      clientAddress: '192.0.2.1',
    },
  ])
}
