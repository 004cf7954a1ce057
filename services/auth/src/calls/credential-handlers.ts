import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { toHappening } from '@pitboss/contracts/environments'
import type { credentialSchema } from '@pitboss/contracts/objects/credential'
import { ServiceError } from '@pitboss/errors/service-error'
import { claimIdempotencyKey, hashBody } from '@pitboss/storage/idempotency-keys'
import type { z } from 'zod'
import { parseAllowlist } from '../rules/address-list.ts'
import { newApiKey, newApiSecret } from '../rules/key-pair.ts'
import { requireAllowlistPlan, requireLivePlan } from '../rules/plan-rules.ts'
import type { CredentialDocument } from '../storage/documents.ts'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { AuthDeps } from './deps.ts'

type Credential = z.infer<typeof credentialSchema>

/** Key pairs of the account. Source: contract sections 3 and 11. */
export function credentialHandlers(deps: AuthDeps): CallHandler[] {
  const { collections, stores, news, secretHash, clock, newId, random, db } = deps
  const { operators } = collections
  const { credentials } = stores

  const operatorOf = async ({ scope }: Caller) => {
    const operator = await operators.findOne({ _id: scope.operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }
  /** The key and where it is. */
  const find = async (caller: Caller, apiKey: string) => {
    for (const scope of lookupScopes(caller)) {
      const found = await credentials.find(scope, apiKey)
      if (found !== null) return { scope, found }
    }
    throw new ServiceError('NOT_FOUND')
  }
  /** Changes one credential and tells the gateways before it answers. */
  const change = async (scope: Scope, apiKey: string, set: Partial<CredentialDocument>) => {
    const changed = await credentials.change(scope, apiKey, set)
    if (changed === null) throw new ServiceError('NOT_FOUND')
    await news.credential(apiKey)
    return changed
  }

  return [
    handler(endpoints.listCredentials.call, async ({ caller, query }) => {
      const { rows, nextCursor } = await credentials.page(caller.scope, query)
      return { status: 200, body: { data: rows.map(toPublic), next_cursor: nextCursor } }
    }),

    handler(endpoints.createCredential.call, async ({ caller, body }) => {
      const operator = await operatorOf(caller)
      if (body.environment === 'LIVE') requireLivePlan(operator)
      const ipAllowlist = parseAllowlist(body.ip_allowlist)
      if (ipAllowlist.length > 0) requireAllowlistPlan(operator)
      const now = clock.now()
      const scope = { operatorId: operator._id, environment: toHappening(body.environment) }
      const makeKey = () => newApiKey(body.environment, random)
      const claim =
        caller.idempotencyKey === null
          ? { objectId: makeKey(), fresh: true }
          : await claimIdempotencyKey({
              db,
              scope: caller.scope,
              list: 'credentials',
              key: caller.idempotencyKey,
              bodyHash: hashBody(body),
              newId: makeKey,
              now,
            })
      if (!claim.fresh) {
        const known = await credentials.known(scope, claim.objectId)
        if (known !== null) return { status: 201, body: toPublic(known) }
      }
      const api_secret = newApiSecret(body.environment, random)
      const document: CredentialDocument = {
        _id: claim.objectId,
        order: newId('crd'),
        operatorId: operator._id,
        environment: body.environment,
        name: body.name,
        secretHash: secretHash.hash(api_secret),
        scopes: [...new Set(body.scopes)],
        ipAllowlist,
        status: 'ACTIVE',
        createdAt: now,
        rotatedAt: null,
        revokedAt: null,
        lastUsedAt: null,
        accessPending: false,
      }
      try {
        await credentials.insert(document)
      } catch (error) {
        const known = isDuplicateKey(error) ? await credentials.known(scope, claim.objectId) : null
        if (known === null) throw error
        return { status: 201, body: toPublic(known) }
      }
      return { status: 201, body: { ...toPublic(document), api_secret } }
    }),

    handler(endpoints.getCredential.call, async ({ caller, params }) => {
      const { found } = await find(caller, params.api_key)
      return { status: 200, body: toPublic(found) }
    }),

    handler(endpoints.patchCredential.call, async ({ caller, params, body }) => {
      const ipAllowlist = body.ip_allowlist === undefined ? undefined : parseAllowlist(body.ip_allowlist)
      if (ipAllowlist !== undefined && ipAllowlist.length > 0) requireAllowlistPlan(await operatorOf(caller))
      const { scope } = await find(caller, params.api_key)
      const changed = await change(scope, params.api_key, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: [...new Set(body.scopes)] }),
        ...(ipAllowlist === undefined ? {} : { ipAllowlist }),
      })
      return { status: 200, body: toPublic(changed) }
    }),

    handler(endpoints.rotateCredential.call, async ({ caller, params }) => {
      const { scope, found: present } = await find(caller, params.api_key)
      if (present.status === 'REVOKED')
        throw new ServiceError('CONFLICT', {
          message: 'A revoked key pair cannot be rotated; create a new one.',
        })
      const api_secret = newApiSecret(present.environment, random)
      const newHash = secretHash.hash(api_secret)
      const changed = await credentials.rotate(scope, present._id, newHash, clock.now())
      if (changed === null) throw new ServiceError('NOT_FOUND')
      return { status: 200, body: { ...toPublic(changed), api_secret } }
    }),

    handler(endpoints.revokeCredential.call, async ({ caller, params }) => {
      const { scope, found: present } = await find(caller, params.api_key)
      const revokedAt = present.revokedAt ?? clock.now()
      return {
        status: 200,
        body: toPublic(await change(scope, params.api_key, { status: 'REVOKED', revokedAt })),
      }
    }),

    handler(endpoints.deleteCredential.call, async ({ caller, params }) => {
      const { scope } = await find(caller, params.api_key)
      await change(scope, params.api_key, { status: 'DELETED', revokedAt: clock.now() })
      return { status: 204, body: null }
    }),
  ]
}

const text = (instant: Date | null) => instant?.toISOString() ?? null

function toPublic(document: CredentialDocument): Credential {
  return {
    api_key: document._id,
    name: document.name,
    environment: document.environment,
    scopes: document.scopes,
    ip_allowlist: document.ipAllowlist,
    status: document.status === 'ACTIVE' ? 'ACTIVE' : 'REVOKED',
    created_at: document.createdAt.toISOString(),
    rotated_at: text(document.rotatedAt),
    revoked_at: text(document.revokedAt),
    last_used_at: text(document.lastUsedAt),
  }
}
