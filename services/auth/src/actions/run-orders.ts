import { randomUUID } from 'node:crypto'
import { orderedBy } from '@pitboss/contracts/audit'
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
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { toKeyRecord, toOperatorRecord } from '../records/operations-view.ts'
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
  const { stores, publishAccessChange, audit, takeAudit, passwords, signer, clock, newId, random } = deps
  const { operators, people, platform, refreshTokens } = stores

  /** @param text an operator's handle or id */
  const findOperator = async (text: string) => {
    const operatorId = operatorIdOf(text)
    const operator = operatorId === null ? null : await operators.find({ operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND', { message: `There is no operator ${text}.` })
    return operator
  }

  /**
   * Writes into the audit log what the command does to NATS itself, where no document of a service changes.
   * @returns its id
   */
  async function recordOwnAct(
    { what, target, details, ...order }: z.infer<typeof opsAppendAudit.request>,
    requestId: string,
  ): Promise<string> {
    const [type = ''] = what.split('.')
    const object = { type, id: target ?? '' }
    const change = { act: what, object, before: null, after: details }
    const entry = audit.entry(orderedBy(order, null, requestId), change)
    await takeAudit('auth', [entry])
    return entry.audit_id
  }

  /** Inserts an account with its first owner. */
  async function insertAccount(
    { order, name, plan, approved, password: chosen }: z.infer<typeof opsCreateOperator.request>,
    first: { operatorId: string; ownerId: string; email: string; password: string; currencies: string[] },
    requestId: string,
  ): Promise<void> {
    const { operatorId, ownerId, email, password, currencies } = first
    const isHandedOut = chosen === null
    const passwordHash = await passwords.hash(password, { account: operatorId })
    const createdAt = clock.now()
    const operator: OperatorDocument = {
      ...{ _id: operatorId, name, plan, approved, suspended: false, livePlay: 'on', currencies },
      ...{ timezone: 'UTC', owners: [ownerId], createdAt, accessPending: false },
    }
    const after = toOperatorRecord(operator)
    const object = { type: 'operator', id: after.operator_id }
    const change = { act: 'operator.create', object, before: null, after }
    const entry = audit.entry(orderedBy(order, operatorId, requestId), change)
    await operators.insert({ ...operator, ...auditedInsert(entry) })
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
    recordOwnAct,

    /** @throws ServiceError NOT_FOUND */
    findOperator,

    /** @throws ServiceError VALIDATION_ERROR for an unknown currency or a common password */
    async createOperator(request: z.infer<typeof opsCreateOperator.request>, requestId: string) {
      const { order, name } = request
      const currencies = request.currencies ?? startCurrencies
      for (const [index, code] of currencies.entries()) requireKnownCurrency(code, index)
      if (request.password !== null) await requireUncommonPassword(request.password, 'password')
      const email = request.email.toLowerCase()
      const operatorId = randomUUID()
      const password = request.password ?? randomBase62(passwordCharacters, random)
      const answer = { operator_id: operatorHandleOf(operatorId), name, dashboard: { email, password } }
      if (order.dryRun) return answer
      const first = { operatorId, ownerId: newId('usr'), email, password, currencies }
      await insertAccount(request, first, requestId)
      return answer
    },

    /** @throws ServiceError NOT_FOUND; VALIDATION_ERROR for an order without a switch */
    async setOperator(request: z.infer<typeof opsSetOperator.request>, requestId: string) {
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
      const before = toOperatorRecord(operator)
      const after = toOperatorRecord({ ...operator, ...set })
      const object = { type: 'operator', id: before.operator_id }
      const change = { act: 'operator.set', object, before, after }
      const entry = audit.entry(orderedBy(order, operator._id, requestId), change)
      await operators.change({ operatorId: operator._id }, set, entry)
      await publishAccessChange.operator(operator._id)
      return findOperator(text)
    },

    /**
     * Takes a person's second factor away and ends every session.
     * @throws ServiceError NOT_FOUND; CONFLICT for an e-mail address that several accounts have
     */
    async resetFactor(
      { order, user: text, operator }: z.infer<typeof opsResetFactor.request>,
      requestId: string,
    ) {
      const account = operator === null ? null : await findOperator(operator)
      const byId = await people.latest(text)
      const named = byId === null ? await people.withEmail(text.toLowerCase()) : [byId]
      const found = named.filter(({ operatorId }) => account === null || operatorId === account._id)
      const [user] = found
      if (user === undefined) throw new ServiceError('NOT_FOUND', { message: `There is no person ${text}.` })
      if (found.length > 1)
        throw conflict(
          `Name one of the accounts ${found.map((one) => operatorHandleOf(one.operatorId)).join(', ')}.`,
        )
      const owners = await operators.owners(user)
      const after = toPublicUser({ ...user, totp: null }, owners)
      if (!order.dryRun) {
        const object = { type: 'user', id: user._id }
        const change = { act: 'user.reset-factor', object, before: toPublicUser(user, owners), after }
        const entry = audit.entry(orderedBy(order, user.operatorId, requestId), change)
        await people.removeTotp(user, user._id, entry)
        await publishAccessChange.user(user._id)
        await refreshTokens.end({ userId: user._id })
      }
      return after
    },

    async setRealMoney(
      { order, real_money }: z.infer<typeof opsSetPlatform.request>,
      requestId: string,
    ): Promise<void> {
      if (order.dryRun) return
      const object = { type: 'platform', id: 'platform' }
      const before = { real_money: await platform.isRealMoneyOn() }
      const change = { act: 'platform.set', object, before, after: { real_money } }
      await platform.setRealMoney(real_money, audit.entry(orderedBy(order, null, requestId), change))
      await publishAccessChange.platform()
    },

    /**
     * Makes a new current signing key.
     * @returns the keys that verify, the current one first
     */
    async rotateKeys({ order }: z.infer<typeof opsRotateKeys.request>, requestId: string) {
      if (!order.dryRun) {
        const [current] = await signer.keys()
        const object = { type: 'key', id: current?._id ?? '' }
        const before = current === undefined ? null : toKeyRecord(current)
        const change = { act: 'keys.rotate', object, before, after: null }
        await signer.rotate(audit.entry(orderedBy(order, null, requestId), change))
        await publishAccessChange.keys()
      }
      return signer.keys()
    },

    /**
     * Ends a signing key and every token that it has signed, on every gateway.
     * @returns the keys that verify, the current one first
     * @throws ServiceError NOT_FOUND
     */
    async retireKey({ order, kid }: z.infer<typeof opsRetireKey.request>, requestId: string) {
      const known = (await signer.keys()).find(({ _id }) => _id === kid)
      const before = known === undefined ? { kid } : toKeyRecord(known)
      const change = { act: 'keys.retire', object: { type: 'key', id: kid }, before, after: null }
      const entry = audit.entry(orderedBy(order, null, requestId), change)
      if (order.dryRun ? known === undefined : !(await signer.withdraw(kid, entry)))
        throw new ServiceError('NOT_FOUND', { message: `There is no signing key ${kid}.` })
      if (!order.dryRun) await publishAccessChange.keys()
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
