import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { operatorHandleOf } from '@pitboss/contracts/operator-handle'
import { ServiceError, invalidField } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'
import { claimIdempotencyKey, hashBody } from '@pitboss/storage/idempotency-keys'
import { liveStatusOf } from '../records/account-view.ts'
import { type BrandDocument, type OperatorDocument, untoldChange } from '../storage/documents.ts'
import type { AuthDeps } from './deps.ts'

const brandsMax = 1000

/** Settings and brands of the account. Source: contract section 11. */
export function businessHandlers({
  collections,
  stores,
  bus,
  news,
  clock,
  newId,
  db,
}: AuthDeps): CallHandler[] {
  const { operators } = collections
  const { brands } = stores
  const operatorOf = async (operatorId: string) => {
    const operator = await operators.findOne({ _id: operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND')
    return operator
  }
  /** An account-wide change: the gateways carry brands and currencies along with every call. */
  const touch = async (operatorId: string, set: Partial<OperatorDocument> = {}) => {
    await operators.updateOne({ _id: operatorId }, { $set: { ...set, ...untoldChange() } })
    await news.operator(operatorId)
  }

  return [
    handler(endpoints.getBusiness.call, async ({ caller }) => ({
      status: 200,
      body: toPublic(await operatorOf(caller.scope.operatorId)),
    })),

    handler(endpoints.patchBusiness.call, async ({ caller, body }, context) => {
      const { operatorId } = caller.scope
      const operator = await operatorOf(operatorId)
      if (body.timezone !== undefined && !isTimezone(body.timezone))
        throw invalidField('timezone', 'must be an IANA time zone such as "Europe/Malta"')
      if (body.currencies !== undefined) {
        for (const [index, code] of body.currencies.entries()) {
          if (currencyDigits(code) === null)
            throw invalidField(`currencies.${index}`, 'is not a currency we know')
          if (body.currencies.indexOf(code) !== index)
            throw invalidField(`currencies.${index}`, 'is there twice')
        }
        const wanted = new Set(body.currencies)
        const dropped = operator.currencies.filter((code) => !wanted.has(code))
        const inUse =
          dropped.length === 0
            ? []
            : (await bus.call(currenciesInUse, { operatorId }, context)).currencies.filter((code) =>
                dropped.includes(code),
              )
        if (inUse.length > 0)
          throw new ServiceError('CONFLICT', {
            message: `Active sessions use ${inUse.join(', ')}; close them first.`,
          })
      }
      await touch(operatorId, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
        ...(body.currencies === undefined ? {} : { currencies: body.currencies }),
      })
      return { status: 200, body: toPublic(await operatorOf(operatorId)) }
    }),

    handler(endpoints.listBrands.call, async ({ caller, query }) => {
      const { rows, nextCursor } = await brands.page(caller.scope, query)
      return { status: 200, body: { data: rows.map(toPublicBrand), next_cursor: nextCursor } }
    }),
    handler(endpoints.createBrand.call, async ({ caller, body }) => {
      const { operatorId } = caller.scope
      const now = clock.now()
      const makeId = () => newId('brd')
      const claim =
        caller.idempotencyKey === null
          ? { objectId: makeId(), fresh: true }
          : await claimIdempotencyKey({
              db,
              scope: caller.scope,
              list: 'brands',
              key: caller.idempotencyKey,
              bodyHash: hashBody(body),
              newId: makeId,
              now,
            })
      if ((await brands.count(caller.scope)) >= brandsMax)
        throw new ServiceError('CONFLICT', { message: `An account has at most ${brandsMax} brands.` })
      const brand = { _id: claim.objectId, operatorId, name: body.name, createdAt: now }
      const stored = await brands.insert(brand)
      if (stored === null)
        throw new ServiceError('CONFLICT', { message: 'There is a brand of this name already.' })
      await touch(operatorId)
      return { status: 201, body: toPublicBrand(stored) }
    }),
    handler(endpoints.deleteBrand.call, async ({ caller, params }) => {
      if (!(await brands.remove(caller.scope, params.brand_id ?? '')))
        throw new ServiceError('BRAND_NOT_FOUND')
      await touch(caller.scope.operatorId)
      return { status: 204, body: null }
    }),
  ]
}

function toPublic(operator: OperatorDocument) {
  return {
    operator_id: operatorHandleOf(operator._id),
    name: operator.name,
    plan: operator.plan,
    live_status: liveStatusOf(operator),
    currencies: operator.currencies,
    timezone: operator.timezone,
  }
}

function toPublicBrand(brand: BrandDocument) {
  return { brand_id: brand._id, name: brand.name, created_at: brand.createdAt.toISOString() }
}

function isTimezone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone.length > 0
  } catch {
    return false
  }
}
