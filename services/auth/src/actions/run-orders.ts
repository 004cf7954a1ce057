import { randomUUID } from 'node:crypto'
import type {
  opsAppendAudit,
  opsCreateOperator,
  opsRotateKeys,
  opsSetOperator,
  opsSetPlatform,
} from '@pitboss/contracts/calls/auth-ops'
import { operatorHandleOf, operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { z } from 'zod'
import { requireKnownCurrency } from '../rules/account-rules.ts'
import { randomBase62 } from '../rules/key-pair.ts'
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
  const { audits, operators, people, platform } = stores

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
    { name, plan, approved }: z.infer<typeof opsCreateOperator.request>,
    first: { operatorId: string; ownerId: string; email: string; password: string; currencies: string[] },
  ): Promise<void> {
    const { operatorId, ownerId, email, password, currencies } = first
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
        accessPending: false,
      })
    } catch (error) {
      await operators.remove({ operatorId })
      throw isDuplicateKey(error) ? emailTaken() : error
    }
  }

  return {
    audit,

    /** @throws ServiceError NOT_FOUND */
    findOperator,

    /**
     * @throws ServiceError VALIDATION_ERROR for an unknown currency; CONFLICT for an e-mail address that any
     * account uses
     */
    async createOperator(request: z.infer<typeof opsCreateOperator.request>) {
      const { order, name, plan, approved } = request
      const currencies = request.currencies ?? startCurrencies
      for (const [index, code] of currencies.entries()) requireKnownCurrency(code, index)
      const email = request.email.toLowerCase()
      if ((await people.byEmail(email)) !== null) throw emailTaken()
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

    /** Asks the database for its version and measures the answer, in milliseconds with one decimal. */
    async databaseStatus() {
      const askedAtMs = performance.now()
      const version = await platform.databaseVersion()
      return { version, ping_ms: Math.round((performance.now() - askedAtMs) * 10) / 10 }
    },
  }
}

function emailTaken(): ServiceError {
  return new ServiceError('CONFLICT', { message: 'There is a user with this e-mail address already.' })
}
