import type { Account } from '@pitboss/contracts/caller'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import type { credentialSchema, View } from '@pitboss/contracts/objects/account'
import type { z } from 'zod'
import type { CredentialDocument } from '../storage/credentials-store.ts'
import type { RequestLogDocument } from '../storage/logs-store.ts'
import type { BrandDocument, OperatorDocument } from '../storage/operators-store.ts'
import type { ViewDocument } from '../storage/views-store.ts'

/** A page of a list. Source: docs/contract.md, section 1. */
export function toPublicPage<Row, Item>(
  { rows, nextCursor }: { rows: readonly Row[]; nextCursor: string | null },
  toPublic: (row: Row) => Item,
): { data: Item[]; next_cursor: string | null } {
  return { data: rows.map((row) => toPublic(row)), next_cursor: nextCursor }
}

/**
 * Gives `NONE` until the account is approved, then the state of its live-play switch.
 * Source: docs/contract.md, section 11.
 */
export function liveStatusOf({
  approved,
  livePlay,
}: Pick<OperatorDocument, 'approved' | 'livePlay'>): Account['live_status'] {
  if (!approved) return 'NONE'
  if (livePlay === 'suspended') return 'SUSPENDED'
  return livePlay === 'off' ? 'OFF' : 'APPROVED'
}

/** The switches of an account as they travel with every call. */
export function toAccount(
  operator: OperatorDocument,
  brands: readonly BrandDocument[],
  realMoney: boolean,
): Account {
  return {
    operator_id: operator._id,
    name: operator.name,
    plan: operator.plan,
    approved: operator.approved,
    suspended: operator.suspended,
    live_play: operator.livePlay,
    live_status: liveStatusOf(operator),
    platform_real_money: realMoney,
    currencies: operator.currencies,
    timezone: operator.timezone,
    brands: brands.map((brand) => ({ brand_id: brand._id, name: brand.name, ...brandJurisdiction(brand) })),
    ...accountJurisdiction(operator),
  }
}

/** The settings that an account's own people see. Source: docs/contract.md, section 11. */
export function toPublicBusiness(operator: OperatorDocument) {
  return {
    operator_id: operatorHandleOf(operator._id),
    name: operator.name,
    plan: operator.plan,
    live_status: liveStatusOf(operator),
    currencies: operator.currencies,
    timezone: operator.timezone,
    require_totp: operator.requireTotp ?? false,
    ...(operator.secondPerson === true ? { second_person: true as const } : {}),
    ...accountJurisdiction(operator),
  }
}

function accountJurisdiction({ defaultJurisdiction: of = 'NONE' }: OperatorDocument) {
  return of === 'NONE' ? {} : { default_jurisdiction: of }
}

function brandJurisdiction({ defaultJurisdiction: of }: BrandDocument) {
  return of === undefined ? {} : { default_jurisdiction: of }
}

/** The public record of a saved view. Source: docs/contract.md, section 3, "View". */
export function toPublicView({ _id, page, name, query, madeBy, createdAt }: ViewDocument): View {
  const made_by = { user_id: madeBy.userId, email: madeBy.email }
  return { view_id: _id, name, page, query, made_by, created_at: createdAt.toISOString() }
}

/** The public record of a brand. Source: docs/contract.md, section 11. */
export function toPublicBrand(brand: BrandDocument) {
  const created_at = brand.createdAt.toISOString()
  return { brand_id: brand._id, name: brand.name, ...brandJurisdiction(brand), created_at }
}

const text = (instant: Date | null) => instant?.toISOString() ?? null

/** The public record of a key pair, without its secret. Source: docs/contract.md, section 11. */
export function toPublicCredential(credential: CredentialDocument): z.infer<typeof credentialSchema> {
  return {
    api_key: credential._id,
    name: credential.name,
    environment: credential.environment,
    scopes: credential.scopes,
    ip_allowlist: credential.ipAllowlist,
    status: credential.status === 'ACTIVE' ? 'ACTIVE' : 'REVOKED',
    created_at: credential.createdAt.toISOString(),
    rotated_at: text(credential.rotatedAt),
    revoked_at: text(credential.revokedAt),
    last_used_at: text(credential.lastUsedAt),
    last_used_from: credential.lastUsedFrom ?? null,
    scopes_used: credential.scopesUsed ?? [],
  }
}

/** The public record of a logged request. Source: docs/contract.md, section 11. */
export function toPublicRequest(row: RequestLogDocument) {
  return {
    request_id: row.requestId,
    at: row.at.toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    code: row.code,
    latency_ms: row.latencyMs,
    api_key: row.apiKey,
    client_address: row.clientAddress,
    ...(row.answer === undefined ? {} : { answer: row.answer }),
  }
}
