import { randomUUID } from 'node:crypto'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/auth'
import { operatorHandleOf, operatorIdOf } from '@pitboss/contracts/operator-handle'
import { ServiceError, invalidField } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'
import { liveStatusOf } from '../records/account-view.ts'
import { randomBase62 } from '../rules/key-pair.ts'
import {
  type AuditDocument,
  type OperatorDocument,
  type SigningKeyDocument,
  untoldChange,
} from '../storage/documents.ts'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import { readPage } from '../storage/page.ts'
import { z } from 'zod'
import type { AuthDeps } from './deps.ts'

const buildInfo = z.looseObject({ version: z.string() })
const startCurrencies = ['FUN', 'USD', 'EUR']
const passwordCharacters = 20

type Order = { by: string; reason: string | null; dryRun: boolean }

/** What operations people order: accounts, switches, keys and the audit log. Source: contract section 10. */
export function opsHandlers({
  db,
  collections,
  stores,
  passwords,
  signer,
  news,
  cursors,
  clock,
  newId,
  random,
}: AuthDeps): CallHandler[] {
  const { operators, platform, audits } = collections
  const { people } = stores

  const audit = async (
    order: Order,
    what: string,
    target: string | null,
    details: Record<string, unknown>,
  ) => {
    const record = {
      _id: newId('aud'),
      at: clock.now(),
      by: order.by,
      what,
      target,
      reason: order.reason,
      details,
    }
    await audits.insertOne(record)
    return record
  }
  const find = async (text: string) => {
    const operatorId = operatorIdOf(text)
    const operator = operatorId === null ? null : await operators.findOne({ _id: operatorId })
    if (operator === null) throw new ServiceError('NOT_FOUND', { message: `There is no operator ${text}.` })
    return operator
  }

  return [
    handler(calls.opsCreateOperator, async ({ order, name, email, password, plan, approved, currencies }) => {
      const enabled = currencies ?? startCurrencies
      for (const [index, code] of enabled.entries())
        if (currencyDigits(code) === null)
          throw invalidField(`currencies.${index}`, 'is not a currency we know')
      const address = email.toLowerCase()
      if ((await people.byEmail(address)) !== null) throw emailTaken()
      const operatorId = randomUUID()
      const ownerId = newId('usr')
      const chosen = password ?? randomBase62(passwordCharacters, random)
      const answer = {
        operator_id: operatorHandleOf(operatorId),
        name,
        dashboard: { email: address, password: chosen },
      }
      if (order.dryRun) return answer
      const passwordHash = await passwords.hash(chosen)
      const now = clock.now()
      await operators.insertOne({
        _id: operatorId,
        name,
        plan,
        approved,
        suspended: false,
        livePlay: 'on',
        currencies: enabled,
        timezone: 'UTC',
        owners: [ownerId],
        createdAt: now,
        accessPending: false,
      })
      try {
        await people.insert({
          _id: ownerId,
          operatorId,
          email: address,
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
        await operators.deleteOne({ _id: operatorId })
        throw isDuplicateKey(error) ? emailTaken() : error
      }
      await audit(order, 'operator.create', answer.operator_id, { name, plan, approved })
      return answer
    }),
    handler(calls.opsListOperators, async ({ cursor, limit }) => {
      const { rows, nextCursor } = await readPage({
        collection: operators,
        filter: {},
        order: '_id',
        ascending: true,
        limit,
        cursor: cursor ?? undefined,
        cursors,
        binding: ['ops', 'operators'],
      })
      return { data: rows.map(toRecord), next_cursor: nextCursor }
    }),
    handler(calls.opsShowOperator, async ({ operator }) => toRecord(await find(operator))),
    handler(calls.opsSetOperator, async ({ order, operator: text, plan, approved, suspended, live_play }) => {
      const operator = await find(text)
      const set = {
        ...(plan === undefined ? {} : { plan }),
        ...(approved === undefined ? {} : { approved }),
        ...(suspended === undefined ? {} : { suspended }),
        ...(live_play === undefined ? {} : { livePlay: live_play }),
      }
      if (Object.keys(set).length === 0)
        throw new ServiceError('VALIDATION_ERROR', { message: 'Name at least one switch to set.' })
      if (order.dryRun) return toRecord({ ...operator, ...set })
      await operators.updateOne({ _id: operator._id }, { $set: { ...set, ...untoldChange() } })
      await audit(order, 'operator.set', operatorHandleOf(operator._id), set)
      await news.operator(operator._id)
      return toRecord(await find(text))
    }),

    handler(calls.opsShowPlatform, async () => ({
      real_money: (await platform.findOne({ _id: 'platform' }))?.realMoney ?? true,
    })),
    handler(calls.opsSetPlatform, async ({ order, real_money }) => {
      if (order.dryRun) return { real_money }
      await platform.updateOne(
        { _id: 'platform' },
        { $set: { realMoney: real_money, ...untoldChange() } },
        { upsert: true },
      )
      await audit(order, 'platform.set', null, { real_money })
      await news.platform()
      return { real_money }
    }),

    handler(calls.opsListKeys, async () => ({ data: (await signer.keys()).map(toKeyRecord) })),
    handler(calls.opsRotateKeys, async ({ order }) => {
      if (!order.dryRun) {
        await signer.rotate()
        await audit(order, 'keys.rotate', null, {})
        await news.keys()
      }
      return { data: (await signer.keys()).map(toKeyRecord) }
    }),

    handler(calls.opsAppendAudit, async ({ by, what, target, reason, details }) =>
      toAuditRecord(await audit({ by, reason, dryRun: false }, what, target, details)),
    ),
    handler(calls.opsAuthStatus, async () => {
      const askedAtMs = performance.now()
      const { version } = buildInfo.parse(await db.command({ buildInfo: 1 }))
      return { mongodb: { version, ping_ms: Math.round((performance.now() - askedAtMs) * 10) / 10 } }
    }),
    handler(calls.opsListAudit, async ({ cursor, limit }) => {
      const { rows, nextCursor } = await readPage({
        collection: audits,
        filter: {},
        order: '_id',
        limit,
        cursor: cursor ?? undefined,
        cursors,
        binding: ['ops', 'audits'],
      })
      return { data: rows.map(toAuditRecord), next_cursor: nextCursor }
    }),
  ]
}

function emailTaken(): ServiceError {
  return new ServiceError('CONFLICT', { message: 'There is a user with this e-mail address already.' })
}

function toRecord(operator: OperatorDocument) {
  return {
    operator_id: operatorHandleOf(operator._id),
    name: operator.name,
    plan: operator.plan,
    approved: operator.approved,
    suspended: operator.suspended,
    live_play: operator.livePlay,
    live_status: liveStatusOf(operator),
    currencies: operator.currencies,
    created_at: operator.createdAt.toISOString(),
  }
}

function toKeyRecord(key: SigningKeyDocument) {
  return {
    kid: key._id,
    status: key.current ? ('CURRENT' as const) : ('VERIFYING' as const),
    created_at: key.createdAt.toISOString(),
    retires_at: key.retiresAt?.toISOString() ?? null,
  }
}

function toAuditRecord(record: AuditDocument) {
  return {
    audit_id: record._id,
    at: record.at.toISOString(),
    by: record.by,
    what: record.what,
    target: record.target,
    reason: record.reason,
    details: record.details,
  }
}
