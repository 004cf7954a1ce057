import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import { toEventEnvironment } from '@pitboss/contracts/primitives'
import type { credentialCreateSchema, credentialPatchSchema } from '@pitboss/contracts/objects/account'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { requireAllowlistPlan, requireLivePlan } from '../rules/account-rules.ts'
import { parseAllowlist } from '../rules/address-list.ts'
import { boundSecret, newApiKey, newApiSecret } from '../rules/key-pair.ts'
import { requireKeyPermission } from '../rules/people-rules.ts'
import type { CredentialDocument } from '../storage/credentials-store.ts'
import type { AuthDeps } from './deps.ts'

const roleIn = ({ actor }: Caller) => (actor.kind === 'user' ? actor.role : null)

/**
 * Finds, creates, changes, rotates, revokes and deletes key pairs; each throws NOT_FOUND.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function createChangeCredentials(deps: AuthDeps) {
  const { stores, publishAccessChange, secretHash, clock, newId, random, caps } = deps
  const { credentials, idempotency, operators } = stores

  const operatorOf = async (caller: Caller) => {
    const operator = await operators.find(caller.scope)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }

  /** Finds a key pair and the scope it is in. */
  async function find(caller: Caller, apiKey: string) {
    for (const scope of lookupScopes(caller)) {
      const found = await credentials.find(scope, apiKey)
      if (found !== null) return { scope, found }
    }
    throw new ServiceError('NOT_FOUND')
  }

  /** Writes a change and publishes it to the gateways before the answer. */
  async function write(scope: Scope, apiKey: string, set: Parameters<typeof credentials.change>[2]) {
    const changed = await credentials.change(scope, apiKey, set)
    if (changed === null) throw new ServiceError('NOT_FOUND')
    await publishAccessChange.credential(apiKey)
    return changed
  }

  return {
    find,

    /**
     * Creates a key pair once for each Idempotency-Key. Only the answer that created it holds the secret.
     * @throws ServiceError FORBIDDEN when the plan lacks a feature or the role does not permit the key;
     * VALIDATION_ERROR for an allowlist entry; CONFLICT for an account with all its keys
     */
    async create(
      caller: Caller,
      body: z.infer<typeof credentialCreateSchema>,
    ): Promise<{ credential: CredentialDocument; secret: string | null }> {
      const { environment, name } = body
      requireKeyPermission(roleIn(caller), body)
      const operator = await operatorOf(caller)
      if (environment === 'LIVE') requireLivePlan(operator)
      const ipAllowlist = parseAllowlist(body.ip_allowlist)
      if (ipAllowlist.length > 0) requireAllowlistPlan(operator)
      const now = clock.now()
      const scope = { operatorId: operator._id, environment: toEventEnvironment(environment) }
      const makeId = () => newApiKey(environment, random)
      const claim = await idempotency.claim(caller, { list: 'credentials', body, newId: makeId, now })
      const known = claim.fresh ? null : await credentials.known(scope, claim.objectId)
      if (known !== null) return { credential: known, secret: null }
      if ((await credentials.count(scope, caps.keys)) >= caps.keys) {
        throw new ServiceError('CONFLICT', {
          message: `An account has at most ${caps.keys} keys; delete one first.`,
        })
      }
      const secret = newApiSecret(environment, random)
      const { result: credential, created } = await credentials.insertOnce(scope, {
        ...{ _id: claim.objectId, order: newId('crd'), operatorId: operator._id, environment, name },
        ...{
          secretHash: secretHash.hash(boundSecret(claim.objectId, secret)),
          scopes: [...new Set(body.scopes)],
          ipAllowlist,
        },
        ...{ status: 'ACTIVE', createdAt: now, rotatedAt: null, revokedAt: null, lastUsedAt: null },
        accessPending: false,
      })
      return { credential, secret: created ? secret : null }
    },

    /**
     * @throws ServiceError VALIDATION_ERROR for an allowlist entry; FORBIDDEN when the plan has no allowlists
     * or the role does not permit the key, as it is or as it would be
     */
    async patch(caller: Caller, apiKey: string, body: z.infer<typeof credentialPatchSchema>) {
      const ipAllowlist = body.ip_allowlist === undefined ? undefined : parseAllowlist(body.ip_allowlist)
      if (ipAllowlist !== undefined && ipAllowlist.length > 0) requireAllowlistPlan(await operatorOf(caller))
      const { scope, found } = await find(caller, apiKey)
      const scopes = body.scopes === undefined ? undefined : [...new Set(body.scopes)]
      requireKeyPermission(roleIn(caller), found)
      requireKeyPermission(roleIn(caller), { ...found, scopes: scopes ?? found.scopes })
      return write(scope, apiKey, { name: body.name, scopes, ipAllowlist })
    },

    /**
     * Replaces the secret; the old one stops at once.
     * @throws ServiceError CONFLICT for a revoked key pair; FORBIDDEN when the role does not permit the key
     */
    async rotate(caller: Caller, apiKey: string) {
      const { scope, found } = await find(caller, apiKey)
      requireKeyPermission(roleIn(caller), found)
      if (found.status === 'REVOKED')
        throw new ServiceError('CONFLICT', {
          message: 'A revoked key pair cannot be rotated; create a new one.',
        })
      const secret = newApiSecret(found.environment, random)
      const credential = await credentials.rotate(
        scope,
        found._id,
        secretHash.hash(boundSecret(found._id, secret)),
        clock.now(),
      )
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
