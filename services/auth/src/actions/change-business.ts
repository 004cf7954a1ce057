import type { ActedBy } from '@pitboss/contracts/audit'
import type { CallContext } from '@pitboss/contracts/call'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import type { brandCreateSchema, businessPatchSchema } from '@pitboss/contracts/objects/account'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { conflict, invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { createCap } from '@pitboss/runtime/cap'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { toPublicBrand, toPublicBusiness } from '../records/account-view.ts'
import { brandsMax, requireCurrencies, requireTimezone } from '../rules/account-rules.ts'
import { approversMin } from '../rules/approvals.ts'
import type { AccountGuard, OperatorDocument } from '../storage/operators-store.ts'
import type { AccountScope } from '../storage/page.ts'
import type { AuthDeps } from './deps.ts'
import { createNeedApproval } from './need-approval.ts'

type BusinessPatch = z.infer<typeof businessPatchSchema>

/** Reads and changes the settings and brands of an account. Source: docs/contract.md, section 11. */
export function createChangeBusiness(deps: AuthDeps) {
  const { stores, bus, publishAccessChange, audit, clock, newId } = deps
  const { brands, idempotency, operators, people } = stores
  const { ask } = createNeedApproval(deps)
  const cap = createCap({
    count: (account) => brands.count(account),
    max: brandsMax,
    message: `An account has at most ${brandsMax} brands.`,
  })

  /** @throws ServiceError NOT_FOUND */
  async function find(scope: Scope) {
    const operator = await operators.find(scope)
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }

  /** @throws ServiceError CONFLICT when active sessions use one of the `dropped` currencies */
  async function requireUnused(dropped: readonly string[], { operatorId }: Scope, context: CallContext) {
    if (dropped.length === 0) return
    const used = (await bus.call(currenciesInUse, { operatorId }, context)).currencies
    const inUse = used.filter((code) => dropped.includes(code))
    if (inUse.length > 0) throw conflict(`Active sessions use ${inUse.join(', ')}; close them first.`)
  }

  /** Publishes the account, because the gateways send its brands along with every call. */
  async function publishBrands(scope: Scope): Promise<void> {
    await operators.change(scope, {}, null)
    await publishAccessChange.operator(scope.operatorId)
  }

  /** Whether the caller may say that grave acts need a second person, or need none any more. */
  async function admitSecondPerson(
    { actor, scope }: Caller,
    operator: OperatorDocument,
    body: BusinessPatch,
    by: ActedBy,
  ): Promise<void> {
    if (actor.kind !== 'user' || actor.role !== 'OWNER') {
      const message = 'Only an OWNER, in the dashboard, says whether grave acts need a second person.'
      throw new ServiceError('FORBIDDEN', { message })
    }
    if (body.second_person === true) {
      if ((await people.countApprovers(scope, null, approversMin)) >= approversMin) return
      const message = 'Nobody could approve: the account needs two active people who are OWNER or ADMIN.'
      throw conflict(message)
    }
    await askToEnd('secondPerson', operator, body, by)
  }

  /** Asks for a second person before a guard of the account is switched off, by a request of its own. */
  async function askToEnd(
    guard: AccountGuard,
    operator: OperatorDocument,
    body: BusinessPatch,
    by: ActedBy,
  ): Promise<void> {
    if (operator.secondPerson !== true) return
    const field = guardFields[guard]
    if (Object.keys(body).length > 1) throw invalidField(field, 'must be ended in a request alone')
    const order = { act: 'business.change', [field]: false } as const
    await ask({ ...{ by, order, seen: field }, ...withoutGuard(operator, guard) })
  }

  return {
    find,

    /**
     * @throws ServiceError VALIDATION_ERROR; CONFLICT for a dropped currency that active sessions use, or a
     * second person without two who could be it; FORBIDDEN for a second person by another than an OWNER;
     * APPROVAL_NEEDED to do without a second person, or without a second factor of everybody, again
     */
    async change(caller: Caller, body: BusinessPatch, by: ActedBy, context: CallContext) {
      const { scope } = caller
      const { name, currencies, timezone, second_person: secondPerson } = body
      const { require_totp: requireTotp, default_jurisdiction: defaultJurisdiction } = body
      const operator = await find(scope)
      // What is so already is not written, so that it undoes nothing that somebody else changes meanwhile.
      const isSecondPersonChanged =
        secondPerson !== undefined && secondPerson !== (operator.secondPerson ?? false)
      if (isSecondPersonChanged) await admitSecondPerson(caller, operator, body, by)
      if (requireTotp === false && operator.requireTotp === true)
        await askToEnd('requireTotp', operator, body, by)
      readAll(
        () => currencies !== undefined && requireCurrencies(currencies),
        () => timezone !== undefined && requireTimezone(timezone),
      )
      if (currencies !== undefined) {
        const dropped = operator.currencies.filter((code) => !currencies.includes(code))
        await requireUnused(dropped, scope, context)
      }
      const set = {
        ...(name === undefined ? {} : { name }),
        ...(currencies === undefined ? {} : { currencies }),
        ...(timezone === undefined ? {} : { timezone }),
        ...(requireTotp === undefined ? {} : { requireTotp }),
        ...(isSecondPersonChanged ? { secondPerson } : {}),
        ...(defaultJurisdiction === undefined ? {} : { defaultJurisdiction }),
      }
      const before = toPublicBusiness(operator)
      const after = toPublicBusiness({ ...operator, ...set })
      const object = { type: 'operator', id: before.operator_id }
      const entry = audit.entry(by, { act: 'business.change', object, before, after })
      await operators.change(scope, set, entry)
      await publishAccessChange.operator(scope.operatorId)
      return find(scope)
    },

    /** Switches a guard of the account off, once for an approval. */
    async endGuard(account: AccountScope, guard: AccountGuard, by: ApprovedBy): Promise<'done' | 'stale'> {
      const operator = await operators.find(account)
      if (operator === null) throw new ServiceError('NOT_FOUND')
      const id = by.approval.approval_id
      const entry = audit.entry(by, { act: 'business.change', ...withoutGuard(operator, guard) })
      const isEnded = await operators.endGuard(account, guard, id, entry)
      if (!isEnded && (await operators.find(account))?.[`${guard}EndedBy`] !== id) return 'stale'
      await publishAccessChange.operator(account.operatorId)
      return 'done'
    },

    /**
     * Creates a brand once for each Idempotency-Key.
     * @throws ServiceError CONFLICT for the 1001st brand or a name in use
     */
    async createBrand(caller: Caller, body: z.infer<typeof brandCreateSchema>, by: ActedBy) {
      const { name, default_jurisdiction: defaultJurisdiction } = body
      const now = clock.now()
      const makeId = () => newId('brd')
      const claim = await idempotency.claim(caller, { list: 'brands', body, newId: makeId, now })
      const { operatorId } = caller.scope
      const brand = {
        ...{ _id: claim.objectId, operatorId, name, createdAt: now },
        ...(defaultJurisdiction === undefined ? {} : { defaultJurisdiction }),
      }
      const object = { type: 'brand', id: brand._id }
      const change = { act: 'brand.create', object, before: null, after: toPublicBrand(brand) }
      const stored = await cap.make(
        { operatorId },
        async () => (claim.fresh ? null : brands.find(caller.scope, claim.objectId)),
        () => brands.insert({ ...brand, ...auditedInsert(audit.entry(by, change)) }),
      )
      if (stored === null) throw conflict('There is a brand of this name already.')
      await publishBrands(caller.scope)
      return stored
    },

    /** @throws ServiceError BRAND_NOT_FOUND */
    async removeBrand(scope: Scope, brandId: string, by: ActedBy): Promise<void> {
      const brand = await brands.find(scope, brandId)
      if (brand === null) throw new ServiceError('BRAND_NOT_FOUND')
      const object = { type: 'brand', id: brandId }
      const change = { act: 'brand.delete', object, before: toPublicBrand(brand), after: null }
      if (!(await brands.remove(scope, brandId, audit.entry(by, change))))
        throw new ServiceError('BRAND_NOT_FOUND')
      await publishBrands(scope)
    },
  }
}

const guardFields = { secondPerson: 'second_person', requireTotp: 'require_totp' } as const

/** The guard that an order of `business.change` switches off. */
export function guardOf({ second_person }: Extract<GraveOrder, { act: 'business.change' }>): AccountGuard {
  return second_person === false ? 'secondPerson' : 'requireTotp'
}

/** The change of the account that does without one of its guards. */
function withoutGuard(operator: OperatorDocument, guard: AccountGuard) {
  const before = toPublicBusiness(operator)
  const after = toPublicBusiness({ ...operator, [guard]: false })
  return { object: { type: 'operator', id: before.operator_id }, before, after }
}
