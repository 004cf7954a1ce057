import { randomUUID } from 'node:crypto'
import type { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { z } from 'zod'
import { requireKnownCurrency } from '../rules/account-settings.ts'
import { randomBase62 } from '../rules/key-pair.ts'
import { createAppendAudit } from './append-audit.ts'
import type { AuthDeps } from './deps.ts'

const startCurrencies = ['FUN', 'USD', 'EUR']
const passwordCharacters = 20

/** Creates accounts with their first owner. Source: docs/contract.md, section 10. */
export function createCreateOperator(deps: AuthDeps) {
  const { stores, passwords, clock, newId, random } = deps
  const { operators, people } = stores
  const audit = createAppendAudit(deps)

  /**
   * @throws ServiceError VALIDATION_ERROR for an unknown currency; CONFLICT for an e-mail address that any
   * account uses
   */
  return async function create(request: z.infer<typeof opsCreateOperator.request>) {
    const { order, name, plan, approved } = request
    const currencies = request.currencies ?? startCurrencies
    for (const [index, code] of currencies.entries()) requireKnownCurrency(code, index)
    const email = request.email.toLowerCase()
    if ((await people.byEmail(email)) !== null) throw emailTaken()
    const operatorId = randomUUID()
    const ownerId = newId('usr')
    const password = request.password ?? randomBase62(passwordCharacters, random)
    const answer = { operator_id: operatorHandleOf(operatorId), name, dashboard: { email, password } }
    if (order.dryRun) return answer
    const passwordHash = await passwords.hash(password)
    const now = clock.now()
    await operators.insert({
      _id: operatorId,
      name,
      plan,
      approved,
      suspended: false,
      livePlay: 'on',
      currencies,
      timezone: 'UTC',
      owners: [ownerId],
      createdAt: now,
      accessPending: false,
    })
    try {
      await people.insert({
        _id: ownerId,
        operatorId,
        email,
        name,
        role: 'OWNER',
        status: 'ACTIVE',
        passwordHash,
        totp: null,
        recoveryHashes: [],
        invitation: null,
        createdAt: now,
        lastLoginAt: null,
        accessPending: false,
      })
    } catch (error) {
      await operators.remove({ operatorId })
      throw isDuplicateKey(error) ? emailTaken() : error
    }
    const details = { name, plan, approved }
    await audit.append({ ...order, what: 'operator.create', target: answer.operator_id, details })
    return answer
  }
}

function emailTaken(): ServiceError {
  return new ServiceError('CONFLICT', { message: 'There is a user with this e-mail address already.' })
}
