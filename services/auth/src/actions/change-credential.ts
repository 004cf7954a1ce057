import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { credentialPatchSchema } from '@pitboss/contracts/objects/account'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { parseAllowlist } from '../rules/address-list.ts'
import { newApiSecret } from '../rules/key-pair.ts'
import { requireAllowlistPlan } from '../rules/plan-rules.ts'
import type { CredentialDocument } from '../storage/credentials-store.ts'
import type { AuthDeps } from './deps.ts'
import { createReadCredentials } from './read-credentials.ts'

/**
 * Changes, rotates, revokes and deletes key pairs; each throws NOT_FOUND.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function createChangeCredential(deps: AuthDeps) {
  const { stores, publishAccessChange, secretHash, clock, random } = deps
  const { credentials, operators } = stores
  const { find } = createReadCredentials(deps)

  /** Writes a change and publishes it to the gateways before the answer. */
  const write = async (scope: Scope, apiKey: string, set: Partial<CredentialDocument>) => {
    const changed = await credentials.change(scope, apiKey, set)
    if (changed === null) throw new ServiceError('NOT_FOUND')
    await publishAccessChange.credential(apiKey)
    return changed
  }

  return {
    /**
     * @throws ServiceError VALIDATION_ERROR for an allowlist entry; FORBIDDEN when the plan has no allowlists
     */
    async patch(caller: Caller, apiKey: string, body: z.infer<typeof credentialPatchSchema>) {
      const ipAllowlist = body.ip_allowlist === undefined ? undefined : parseAllowlist(body.ip_allowlist)
      if (ipAllowlist !== undefined && ipAllowlist.length > 0) {
        const operator = await operators.find(caller.scope)
        if (operator === null) throw new ServiceError('NOT_FOUND')
        requireAllowlistPlan(operator)
      }
      const { scope } = await find(caller, apiKey)
      return write(scope, apiKey, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: [...new Set(body.scopes)] }),
        ...(ipAllowlist === undefined ? {} : { ipAllowlist }),
      })
    },

    /**
     * Replaces the secret; the old one stops at once.
     * @throws ServiceError CONFLICT for a revoked key pair
     */
    async rotate(caller: Caller, apiKey: string) {
      const { scope, found } = await find(caller, apiKey)
      if (found.status === 'REVOKED')
        throw new ServiceError('CONFLICT', {
          message: 'A revoked key pair cannot be rotated; create a new one.',
        })
      const secret = newApiSecret(found.environment, random)
      const credential = await credentials.rotate(scope, found._id, secretHash.hash(secret), clock.now())
      if (credential === null) throw new ServiceError('NOT_FOUND')
      return { credential, secret }
    },

    async revoke(caller: Caller, apiKey: string) {
      const { scope, found } = await find(caller, apiKey)
      return write(scope, apiKey, { status: 'REVOKED', revokedAt: found.revokedAt ?? clock.now() })
    },

    async remove(caller: Caller, apiKey: string): Promise<void> {
      const { scope } = await find(caller, apiKey)
      await write(scope, apiKey, { status: 'DELETED', revokedAt: clock.now() })
    },
  }
}
