import { createHash } from 'node:crypto'
import type { ActedBy } from '@pitboss/contracts/audit'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import type { credentialCreateSchema, credentialPatchSchema } from '@pitboss/contracts/objects/account'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { toEventEnvironment } from '@pitboss/contracts/primitives'
import { conflict, ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { createCap } from '@pitboss/runtime/cap'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { toPublicCredential } from '../records/account-view.ts'
import { requireAllowlistPlan, requireLivePlan } from '../rules/account-rules.ts'
import { parseAllowlist } from '../rules/address-list.ts'
import { boundSecret, newApiKey, newApiSecret } from '../rules/key-pair.ts'
import { requireKeyPermission } from '../rules/people-rules.ts'
import type { CredentialDocument } from '../storage/credentials-store.ts'
import type { AuthDeps } from './deps.ts'
import { createNeedApproval } from './need-approval.ts'

const triesMax = 5

type Patch = z.infer<typeof credentialPatchSchema>
type CreatedKey = { readonly credential: CredentialDocument; readonly secret: string | null }

const revoked = () => conflict('A revoked key pair cannot be rotated; create a new one.')

const roleIn = ({ actor }: Caller) => (actor.kind === 'user' ? actor.role : null)

/**
 * Finds, creates, changes, rotates, revokes and deletes key pairs; each throws NOT_FOUND.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function createChangeCredentials(deps: AuthDeps) {
  const { stores, publishAccessChange, audit, secretHash, clock, newId, random, caps } = deps
  const { audits, credentials, idempotency, operators } = stores
  const { ask } = createNeedApproval(deps)
  const cap = createCap({
    count: (account) => credentials.count(account, caps.keys),
    max: caps.keys,
    message: `An account has at most ${caps.keys} keys; delete one first.`,
  })

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

  const entry = (
    by: ActedBy,
    verb: string,
    before: CredentialDocument | null,
    after: CredentialDocument | null,
  ) =>
    audit.entry(by, {
      act: `credential.${verb}`,
      object: { type: 'credential', id: (after ?? before)?._id ?? '' },
      before: before === null ? null : toPublicCredential(before),
      after: after === null ? null : toPublicCredential(after),
    })

  /** Writes a change with its audit entry and publishes it to the gateways before the answer. */
  async function write(
    by: ActedBy,
    verb: string,
    { scope, found }: { scope: Scope; found: CredentialDocument },
    set: Partial<CredentialDocument>,
  ) {
    const after = set.status === 'DELETED' ? null : { ...found, ...set }
    const changed = await credentials.change(scope, found._id, set, entry(by, verb, found, after))
    if (changed === null) throw new ServiceError('NOT_FOUND')
    await publishAccessChange.credential(found._id)
    return changed
  }

  return {
    find,

    /**
     * Creates a key pair once for each Idempotency-Key. Only the answer that created it holds the secret.
     * An unscoped LIVE key is a grave act.
     * @throws ServiceError FORBIDDEN when the plan lacks a feature or the role does not permit the key;
     * VALIDATION_ERROR for an allowlist entry; CONFLICT for an account with all its keys; APPROVAL_NEEDED
     * where the account wants a second person
     */
    async create(
      caller: Caller,
      body: z.infer<typeof credentialCreateSchema>,
      by: ActedBy,
    ): Promise<CreatedKey> {
      const { environment, name } = body
      requireKeyPermission(roleIn(caller), body)
      const operator = await operatorOf(caller)
      if (environment === 'LIVE') requireLivePlan(operator)
      const ipAllowlist = parseAllowlist(body.ip_allowlist)
      if (ipAllowlist.length > 0) requireAllowlistPlan(operator)
      const now = clock.now()
      const scope = { operatorId: operator._id, environment: toEventEnvironment(environment) }
      const makeId = () => newApiKey(environment, random)
      // The environment is a field of the body like any other: a key stands for both.
      const owner = { ...caller, scope: { ...caller.scope, environment: 'SANDBOX' as const } }
      const claim = await idempotency.claim(owner, { list: 'credentials', body, newId: makeId, now })
      const known = async () => {
        const credential = claim.fresh ? null : await credentials.known(scope, claim.objectId)
        return credential && { credential, secret: null }
      }
      return cap.make<CreatedKey>({ operatorId: operator._id }, known, async () => {
        const secret = newApiSecret(environment, random)
        const made: CredentialDocument = {
          ...{ _id: claim.objectId, order: newId('crd'), operatorId: operator._id, environment, name },
          ...{
            secretHash: secretHash.hash(boundSecret(claim.objectId, secret)),
            scopes: [...new Set(body.scopes)],
            ipAllowlist,
          },
          ...{ status: 'ACTIVE', createdAt: now, rotatedAt: null, revokedAt: null, lastUsedAt: null },
          accessPending: false,
        }
        const isGrave = environment === 'LIVE' && made.scopes.length === 0
        const maker = isGrave
          ? await ask({
              ...{ by, order: { act: 'credential.create', key: body }, seen: 'none' },
              ...{ object: { type: 'credential', id: name }, before: null, after: shownNew(made) },
            })
          : by
        const { result: credential, created } = await credentials.insertOnce(scope, {
          ...made,
          ...auditedInsert(entry(maker, 'create', null, made)),
        })
        return { credential, secret: created ? secret : null }
      })
    },

    /**
     * To widen an unscoped LIVE key, or to make one of a scoped one, is a grave act.
     * @throws ServiceError VALIDATION_ERROR for an allowlist entry; FORBIDDEN when the plan has no allowlists
     * or the role does not permit the key, as it is or as it would be; APPROVAL_NEEDED where the account
     * wants a second person
     */
    async patch(caller: Caller, apiKey: string, body: Patch, by: ActedBy) {
      const set = changesOf(body)
      if ((set.ipAllowlist ?? []).length > 0) requireAllowlistPlan(await operatorOf(caller))
      const { scope, found } = await find(caller, apiKey)
      const after = { ...found, ...set }
      requireKeyPermission(roleIn(caller), found)
      requireKeyPermission(roleIn(caller), after)
      const { environment } = found
      if (environment === 'LIVE' && isWidened(found, after)) {
        const order = { act: 'credential.change', environment, api_key: apiKey, patch: body } as const
        await ask({
          ...{ by, order, seen: stateOf(found), object: { type: 'credential', id: apiKey } },
          ...{ before: toPublicCredential(found), after: toPublicCredential(after) },
        })
      }
      return write(by, 'change', { scope, found }, set)
    },

    /**
     * Replaces the secret; the old one stops at once.
     * @throws ServiceError CONFLICT for a revoked key pair; FORBIDDEN when the role does not permit the key
     */
    async rotate(caller: Caller, apiKey: string, by: ActedBy) {
      const { scope, found } = await find(caller, apiKey)
      requireKeyPermission(roleIn(caller), found)
      if (found.status === 'REVOKED') throw revoked()
      const secret = newApiSecret(found.environment, random)
      const now = clock.now()
      const credential = await credentials.rotate(
        scope,
        found._id,
        secretHash.hash(boundSecret(found._id, secret)),
        now,
        entry(by, 'rotate', found, { ...found, rotatedAt: now }),
      )
      if (credential !== null) return { credential, secret }
      // It was deleted or revoked meanwhile.
      await find(caller, apiKey)
      throw revoked()
    },

    async revoke(caller: Caller, apiKey: string, by: ActedBy) {
      const { scope, found } = await find(caller, apiKey)
      const revokedAt = found.revokedAt ?? clock.now()
      return write(by, 'revoke', { scope, found }, { status: 'REVOKED', revokedAt })
    },

    /** @throws ServiceError APPROVAL_NEEDED for a LIVE key where the account wants a second person */
    async remove(caller: Caller, apiKey: string, by: ActedBy): Promise<void> {
      const { scope, found } = await find(caller, apiKey)
      const { environment } = found
      if (environment === 'LIVE')
        await ask({
          ...{ by, order: { act: 'credential.delete', environment, api_key: apiKey }, seen: stateOf(found) },
          object: { type: 'credential', id: apiKey },
          ...{ before: toPublicCredential(found), after: null },
        })
      await write(by, 'delete', { scope, found }, { status: 'DELETED', revokedAt: clock.now() })
    },

    /**
     * Changes or deletes a key once for an approval. The id of the audit entry follows from the approval, and
     * the entry stays when the key is gone: it tells whether it was done for this approval.
     */
    async changeApproved(
      order: Extract<GraveOrder, { act: 'credential.delete' | 'credential.change' }>,
      seen: string,
      by: ApprovedBy,
    ): Promise<'done' | 'stale'> {
      const { act, environment, api_key } = order
      const scope = { operatorId: by.operator_id ?? '', environment: toEventEnvironment(environment) }
      const audit_id = `aud_${by.approval.approval_id.slice('apr_'.length)}`
      for (let tries = 0; tries < triesMax; tries++) {
        const found = await credentials.known(scope, api_key)
        const waits = found?.auditOutbox?.some((one) => one.audit_id === audit_id) ?? false
        if (waits || (await audits.has(scope, audit_id))) return 'done'
        if (found === null || found.status === 'DELETED' || stateOf(found) !== seen) return 'stale'
        const isDeletion = act === 'credential.delete'
        const set: Partial<CredentialDocument> = isDeletion
          ? { status: 'DELETED', revokedAt: clock.now() }
          : changesOf(order.patch)
        const after = isDeletion ? null : { ...found, ...set }
        const change = { ...entry(by, isDeletion ? 'delete' : 'change', found, after), audit_id }
        if ((await credentials.changeSeen(found, set, change)) === null) continue
        await publishAccessChange.credential(api_key)
        return 'done'
      }
      throw tryAgain()
    },
  }
}

/** The fields that a patch sets. @throws ServiceError VALIDATION_ERROR for an allowlist entry */
function changesOf({ name, scopes, ip_allowlist: list }: Patch): Partial<CredentialDocument> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
    ...(list === undefined ? {} : { ipAllowlist: parseAllowlist(list) }),
  }
}

type Reach = Pick<CredentialDocument, 'scopes' | 'ipAllowlist'>

/**
 * Whether a key becomes unscoped, or an unscoped one is taken from more addresses. An empty list takes all.
 */
function isWidened(before: Reach, after: Reach): boolean {
  if (after.scopes.length > 0) return false
  if (before.scopes.length > 0) return true
  if (before.ipAllowlist.length === 0) return false
  return (
    after.ipAllowlist.length === 0 || after.ipAllowlist.some((range) => !before.ipAllowlist.includes(range))
  )
}

/** What a key pair that does not exist yet is to be. */
function shownNew({ name, environment, scopes, ipAllowlist }: CredentialDocument) {
  return { name, environment, scopes, ip_allowlist: ipAllowlist }
}

/** Names what people can change of a key: uses change nothing. */
function stateOf({ name, scopes, ipAllowlist, status, rotatedAt }: CredentialDocument): string {
  const state = JSON.stringify([name, scopes, ipAllowlist, status, rotatedAt])
  return createHash('sha256').update(state).digest('base64url')
}
