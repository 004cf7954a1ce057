import type { credentialSchema } from '@pitboss/contracts/objects/account'
import type { z } from 'zod'
import type { CredentialDocument } from '../storage/credentials-store.ts'

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
  }
}
