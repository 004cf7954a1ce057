import type { Caller } from '@pitboss/contracts/caller'
import { toEventEnvironment } from '@pitboss/contracts/primitives'
import type { credentialCreateSchema } from '@pitboss/contracts/objects/account'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { parseAllowlist } from '../rules/address-list.ts'
import { newApiKey, newApiSecret } from '../rules/key-pair.ts'
import { requireAllowlistPlan, requireLivePlan } from '../rules/plan-rules.ts'
import type { CredentialDocument } from '../storage/credentials-store.ts'
import type { AuthDeps } from './deps.ts'

/** Creates key pairs. Source: docs/contract.md, sections 3 and 11. */
export function createCreateCredential({ stores, secretHash, clock, newId, random }: AuthDeps) {
  const { credentials, idempotency, operators } = stores

  /**
   * Creates a key pair once for each Idempotency-Key. Only the answer that created it holds the secret.
   * @throws ServiceError NOT_FOUND; FORBIDDEN when the plan lacks a feature; VALIDATION_ERROR for an
   * allowlist entry
   */
  return async function create(
    caller: Caller,
    body: z.infer<typeof credentialCreateSchema>,
  ): Promise<{ credential: CredentialDocument; secret: string | null }> {
    const operator = await operators.find(caller.scope)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    if (body.environment === 'LIVE') requireLivePlan(operator)
    const ipAllowlist = parseAllowlist(body.ip_allowlist)
    if (ipAllowlist.length > 0) requireAllowlistPlan(operator)
    const now = clock.now()
    const scope = { operatorId: operator._id, environment: toEventEnvironment(body.environment) }
    const claim = await idempotency.claim(caller, {
      list: 'credentials',
      body,
      newId: () => newApiKey(body.environment, random),
      now,
    })
    const known = claim.fresh ? null : await credentials.known(scope, claim.objectId)
    if (known !== null) return { credential: known, secret: null }
    const secret = newApiSecret(body.environment, random)
    const { result: credential, created } = await credentials.insertOnce(scope, {
      _id: claim.objectId,
      order: newId('crd'),
      operatorId: operator._id,
      environment: body.environment,
      name: body.name,
      secretHash: secretHash.hash(secret),
      scopes: [...new Set(body.scopes)],
      ipAllowlist,
      status: 'ACTIVE',
      createdAt: now,
      rotatedAt: null,
      revokedAt: null,
      lastUsedAt: null,
      accessPending: false,
    })
    return { credential, secret: created ? secret : null }
  }
}
