import { randomUUID } from 'node:crypto'
import type {
  opsAppendAudit,
  opsCreateOperator,
  opsResetFactor,
  opsRetireKey,
  opsRotateKeys,
  opsSetOperator,
  opsSetPlatform,
} from '@pitboss/contracts/calls/auth-ops'
import { operatorHandleOf, operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { toPublicUser } from '../records/user-view.ts'
import { requireKnownCurrency } from '../rules/account-rules.ts'
import { randomBase62 } from '../rules/key-pair.ts'
import { requireUncommonPassword } from '../rules/people-rules.ts'
import type { OperatorDocument } from '../storage/operators-store.ts'
import type { AuthDeps } from './deps.ts'

const startCurrencies = ['FUN', 'USD', 'EUR']
const passwordCharacters = 20

/**
 * Runs the orders of operations people: new accounts, switches, signing keys and the audit log, in which each
 * order leaves a record.
 * Source: docs/contract.md, section 10.
 */
export function createRunOrders(deps: AuthDeps) {
  const { stores, publishAccessChange, passwords, signer, clock, newId, random } = deps
  const { audits, operators, people, platform, refreshTokens } = stores

  /** @param text an operator's handle or id */
  const findOperator = async (text: string) => {
    const operatorId = operatorIdOf(text)
    const operator = operatorId === null ? null : await operators.find({ operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND', { message: `There is no operator ${text}.` })
    return operator
  }

  /** Writes a record into the audit log. */
  async function audit({ by, what, target, reason, details }: z.infer<typeof opsAppendAudit.request>) {
    const record = { _id: newId('aud'), at: clock.now(), by, what, target, reason, details }
    await audits.insert(record)
    return record
  }

  /** Inserts an account with its first owner. */
  async function insertAccount(
    { name, plan, approved, password: chosen }: z.infer<typeof opsCreateOperator.request>,
    first: { operatorId: string; ownerId: string; email: string; password: string; currencies: string[] },
  ): Promise<void> {
    const { operatorId, ownerId, email, password, currencies } = first
    const isHandedOut = chosen === null
    const passwordHash = await passwords.hash(password)
    const createdAt = clock.now()
    await operators.insert({
      ...{ _id: operatorId, name, plan, approved, suspended: false, livePlay: 'on', currencies },
      ...{ timezone: 'UTC', owners: [ownerId], createdAt, accessPending: false },
    })
    try {
      await people.insert({
        ...{ _id: ownerId, operatorId, email, name, role: 'OWNER', status: 'ACTIVE', passwordHash },
        ...{ totp: null, recoveryHashes: [], invitation: null, createdAt, lastLoginAt: null },
        ...{ mustChangePassword: isHandedOut, accessPending: false },
      })
    } catch (error) {
      await operators.remove({ operatorId })
      throw error
    }
  }

  return {
    audit,

    /** @throws ServiceError NOT_FOUND */
    findOperator,

    /** @throws ServiceError VALIDATION_ERROR for an unknown currency or a common password */
    async createOperator(request: z.infer<typeof opsCreateOperator.request>) {
      const { order, name, plan, approved } = request
      const currencies = request.currencies ?? startCurrencies
      for (const [index, code] of currencies.entries()) requireKnownCurrency(code, index)
      if (request.password !== null) requireUncommonPassword(request.password, 'password')
      const email = request.email.toLowerCase()
      const operatorId = randomUUID()
      const password = request.password ?? randomBase62(passwordCharacters, random)
      const answer = { operator_id: operatorHandleOf(operatorId), name, dashboard: { email, password } }
      if (order.dryRun) return answer
      await insertAccount(request, { operatorId, ownerId: newId('usr'), email, password, currencies })
      const details = { name, plan, approved }
      await audit({ ...order, what: 'operator.create', target: answer.operator_id, details })
      return answer
    },

    /** @throws ServiceError NOT_FOUND; VALIDATION_ERROR for an order without a switch */
    async setOperator(request: z.infer<typeof opsSetOperator.request>) {
      const { order, operator: text, plan, approved, suspended, live_play: livePlay } = request
      const operator = await findOperator(text)
      const set: Partial<OperatorDocument> = {
        ...(plan === undefined ? {} : { plan }),
        ...(approved === undefined ? {} : { approved }),
        ...(suspended === undefined ? {} : { suspended }),
        ...(livePlay === undefined ? {} : { livePlay }),
      }
      if (Object.keys(set).length === 0)
        throw new ServiceError('VALIDATION_ERROR', { message: 'Name at least one switch to set.' })
      if (order.dryRun) return { ...operator, ...set }
      await operators.change({ operatorId: operator._id }, set)
      const target = operatorHandleOf(operator._id)
      await audit({ ...order, what: 'operator.set', target, details: set })
      await publishAccessChange.operator(operator._id)
      return findOperator(text)
    },

    /**
     * Takes a person's second factor away and ends every session.
     * @throws ServiceError NOT_FOUND; CONFLICT for an e-mail address that several accounts have
     */
    async resetFactor({ order, user: text, operator }: z.infer<typeof opsResetFactor.request>) {
      const account = operator === null ? null : await findOperator(operator)
      const byId = await people.latest(text)
      const named = byId === null ? await people.withEmail(text.toLowerCase()) : [byId]
      const found = named.filter(({ operatorId }) => account === null || operatorId === account._id)
      const [user] = found
      if (user === undefined) throw new ServiceError('NOT_FOUND', { message: `There is no person ${text}.` })
      if (found.length > 1)
        throw new ServiceError('CONFLICT', {
          message: `Name one of the accounts ${found.map((one) => operatorHandleOf(one.operatorId)).join(', ')}.`,
        })
      if (!order.dryRun) {
        await people.removeTotp(user, user._id)
        await audit({ ...order, what: 'user.reset-factor', target: user._id, details: {} })
        await publishAccessChange.user(user._id)
        await refreshTokens.end({ userId: user._id })
      }
      return toPublicUser({ ...user, totp: null }, await operators.owners(user))
    },

    async setRealMoney({ order, real_money }: z.infer<typeof opsSetPlatform.request>): Promise<void> {
      if (order.dryRun) return
      await platform.setRealMoney(real_money)
      await audit({ ...order, what: 'platform.set', target: null, details: { real_money } })
      await publishAccessChange.platform()
    },

    /**
     * Makes a new current signing key.
     * @returns the keys that verify, the current one first
     */
    async rotateKeys({ order }: z.infer<typeof opsRotateKeys.request>) {
      if (!order.dryRun) {
        await signer.rotate()
        await audit({ ...order, what: 'keys.rotate', target: null, details: {} })
        await publishAccessChange.keys()
      }
      return signer.keys()
    },

    /**
     * Ends a signing key and every token that it has signed, on every gateway.
     * @returns the keys that verify, the current one first
     * @throws ServiceError NOT_FOUND
     */
    async retireKey({ order, kid }: z.infer<typeof opsRetireKey.request>) {
      const known = (await signer.keys()).some(({ _id }) => _id === kid)
      if (order.dryRun ? !known : !(await signer.withdraw(kid)))
        throw new ServiceError('NOT_FOUND', { message: `There is no signing key ${kid}.` })
      if (!order.dryRun) {
        await audit({ ...order, what: 'keys.retire', target: kid, details: {} })
        await publishAccessChange.keys()
      }
      return signer.keys()
    },

    /** Asks the database for its version and measures the answer, in milliseconds with one decimal. */
    async databaseStatus() {
      const askedAtMs = performance.now()
      const version = await platform.databaseVersion()
      return { version, ping_ms: Math.round((performance.now() - askedAtMs) * 10) / 10 }
    },
  }
}
