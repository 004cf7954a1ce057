import type { CursorCodec } from '@pitboss/storage/cursor'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { createIdempotencyKeys, idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import type { Db } from 'mongodb'
import { auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import { approvalIndexes, createApprovalsStore } from './approvals-store.ts'
import { auditHeadIndexes, auditIndexes, createAuditsStore } from './audits-store.ts'
import { createCredentialsStore } from './credentials-store.ts'
import { createRequestLogsStore } from './logs-store.ts'
import { createBrandsStore, createOperatorsStore, createPlatformStore } from './operators-store.ts'
import { createPeopleStore } from './people-store.ts'
import { createRefreshTokensStore } from './refresh-tokens-store.ts'
import { createSigningKeysStore } from './signing-keys-store.ts'
import { createViewsStore } from './views-store.ts'

/** Every store of auth. A method that takes a scope or an account answers for that one alone. */
export function authStores(from: { db: Db; cursors: CursorCodec }) {
  return {
    approvals: createApprovalsStore(from),
    audits: createAuditsStore(from),
    brands: createBrandsStore(from),
    credentials: createCredentialsStore(from),
    idempotency: createIdempotencyKeys(from),
    operators: createOperatorsStore(from),
    people: createPeopleStore(from),
    platform: createPlatformStore(from),
    refreshTokens: createRefreshTokensStore(from),
    requestLogs: createRequestLogsStore(from),
    signingKeys: createSigningKeysStore(from),
    views: createViewsStore(from),
  }
}
export type AuthStores = ReturnType<typeof authStores>

/** The collections whose changes are audited. */
export const auditedCollections = [
  'operators',
  'platform',
  'brands',
  'credentials',
  'users',
  'signing_keys',
  'views',
  'approvals',
] as const

const thirtyDaysS = 30 * 24 * 60 * 60
const pending = (): IndexDeclaration => ({
  key: { accessPending: 1 },
  name: 'access_pending',
  partialFilterExpression: { accessPending: true },
})

/** Every index of auth; the unique ones keep records unique. */
export const authIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  operators: [pending(), auditOutboxIndex],
  platform: [auditOutboxIndex],
  brands: [
    { key: { operatorId: 1, _id: 1 }, name: 'by_operator' },
    { key: { operatorId: 1, name: 1 }, name: 'one_of_a_name', unique: true },
    auditOutboxIndex,
  ],
  views: [
    { key: { operatorId: 1, _id: 1 }, name: 'by_operator' },
    { key: { operatorId: 1, page: 1, name: 1 }, name: 'one_of_a_name', unique: true },
    auditOutboxIndex,
  ],
  approvals: approvalIndexes,
  credentials: [
    { key: { operatorId: 1, environment: 1, order: 1 }, name: 'by_account', unique: true },
    pending(),
    auditOutboxIndex,
  ],
  users: [
    { key: { operatorId: 1, email: 1 }, name: 'email_in_account', unique: true },
    { key: { email: 1, _id: 1 }, name: 'by_email' },
    { key: { email: 1 }, name: 'email', unique: true, retired: true },
    { key: { operatorId: 1, _id: 1 }, name: 'by_operator' },
    { key: { 'invitation.hash': 1 }, name: 'invitation' },
    pending(),
    auditOutboxIndex,
  ],
  refresh_tokens: [
    { key: { family: 1 }, name: 'family' },
    { key: { userId: 1 }, name: 'user' },
    { key: { expiresAt: 1 }, name: 'expires_at', expireAfterSeconds: 0 },
  ],
  signing_keys: [
    { key: { current: 1 }, name: 'one_current', unique: true, partialFilterExpression: { current: true } },
    auditOutboxIndex,
  ],
  request_logs: [
    { key: { operatorId: 1, environment: 1, order: 1 }, name: 'by_account' },
    { key: { operatorId: 1, apiKey: 1 }, name: 'by_credential' },
    { key: { operatorId: 1, requestId: 1 }, name: 'by_request' },
    {
      key: { operatorId: 1, environment: 1, order: -1 },
      name: 'refused',
      partialFilterExpression: { status: { $gte: 400 } },
    },
    { key: { operatorId: 1, environment: 1, method: 1, order: -1 }, name: 'by_method' },
    { key: { operatorId: 1, environment: 1, status: 1, order: -1 }, name: 'by_status' },
    { key: { operatorId: 1, environment: 1, path: 1 }, name: 'by_path' },
    { key: { at: 1 }, name: 'thirty_days', expireAfterSeconds: thirtyDaysS },
  ],
  audits: auditIndexes,
  audit_heads: auditHeadIndexes,
  idempotency_keys: [...idempotencyKeyIndexes.idempotency_keys, { key: { objectId: 1 }, name: 'object' }],
}
