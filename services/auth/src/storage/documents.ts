import { randomUUID } from 'node:crypto'
import type { Role } from '@pitboss/contracts/caller'
import type { HappeningEnvironment, SetupEnvironment } from '@pitboss/contracts/primitives'

/**
 * The documents of auth. `accessPending` marks a change that the gateways must be told of over the access bucket; it is set by
 * the very write that makes the change, so that no crash can swallow the news. `accessChange` names the latest such change: news of one
 * do not end what the next has pending.
 */

/** What a write sets that changes something the gateways must be told of. */
export function untoldChange(): { accessPending: true; accessChange: string } {
  return { accessPending: true, accessChange: randomUUID() }
}

export type OperatorDocument = {
  _id: string
  name: string
  plan: 'free' | 'paid'
  approved: boolean
  suspended: boolean
  livePlay: 'on' | 'off' | 'suspended'
  currencies: string[]
  timezone: string
  /** Active users with the OWNER role. Decides who is an owner: it never becomes empty. */
  owners: string[]
  createdAt: Date
  accessPending: boolean
  accessChange?: string | null
}

export type BrandDocument = { _id: string; operatorId: string; name: string; createdAt: Date }

export type PlatformDocument = {
  _id: 'platform'
  realMoney: boolean
  accessPending: boolean
  accessChange?: string | null
}

export type CredentialDocument = {
  /** The api_key. */
  _id: string
  /** Ordered by creation; pages go by it. */
  order: string
  operatorId: string
  environment: SetupEnvironment
  name: string
  secretHash: string
  scopes: string[]
  ipAllowlist: string[]
  status: 'ACTIVE' | 'REVOKED' | 'DELETED'
  createdAt: Date
  rotatedAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  accessPending: boolean
  accessChange?: string | null
}

export type UserDocument = {
  _id: string
  operatorId: string
  /** Lower case; unique over all accounts, since people sign in with it alone. */
  email: string
  name: string
  role: Role
  status: 'ACTIVE' | 'INVITED' | 'REMOVED'
  passwordHash: string | null
  /** `lastStep` is the last 30 s step whose code was used; `confirmed` is false between enrolment and the first code. */
  totp: { sealedSecret: string; confirmed: boolean; lastStep: number } | null
  recoveryHashes: string[]
  invitation: { hash: string; expiresAt: Date } | null
  createdAt: Date
  lastLoginAt: Date | null
  accessPending: boolean
  accessChange?: string | null
}

export type RefreshDocument = {
  /** Hash of the cookie's value. */
  _id: string
  userId: string
  family: string
  usedAt: Date | null
  expiresAt: Date
}

export type SigningKeyDocument = {
  /** The `kid`. */
  _id: string
  current: boolean
  publicJwk: Record<string, unknown>
  sealedPrivateJwk: string
  createdAt: Date
  /** Verifies until then; null while it is current. */
  retiresAt: Date | null
}

export type RequestLogDocument = {
  _id: string
  /** Time and hash; pages go by it, newest first. */
  order: string
  operatorId: string
  environment: HappeningEnvironment
  requestId: string
  at: Date
  method: string
  path: string
  status: number
  code: string | null
  latencyMs: number
  apiKey: string | null
  clientAddress: string
}

export type AuditDocument = {
  _id: string
  at: Date
  by: string
  what: string
  target: string | null
  reason: string | null
  details: Record<string, unknown>
}
