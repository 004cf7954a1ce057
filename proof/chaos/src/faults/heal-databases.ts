import { fromListed, type StoredMovement } from '@pitboss/wallet-bridge/storage/listed-movements'
import type { Product } from '@pitboss/bench/harness/start-product'
import { until } from '@pitboss/bench/harness/until'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { readOps } from '@pitboss/testing/run-ops'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { z } from 'zod'
import * as rows from '../check/rows.ts'
import type { RestoredService } from '../check/restored.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { send } from '../send.ts'
import { clockOffMs } from './clock-faults.ts'
import { withDatabase } from './database-copy.ts'

/** Of a stake that was in flight others are asked once its 15 s are over, and again 5 s later. */
const heal = { withinMs: 120_000, everyMs: 250 }
const why = ['--yes', '--reason', 'database restored']
const reopened = z.array(z.looseObject({ status: z.string() }))
const ledgerPage = z.object({ data: z.array(rows.ledgerEntry) })

export type HealedAccount = Pick<Tenancy, 'operatorId' | 'environment'> & {
  /** Where the operator's ledger is asked for; nobody asks it where this is left out. */
  readonly walletUrl?: string
}
type Healing = {
  readonly product: Pick<Product, 'demo' | 'dataDir'>
  readonly accounts: readonly HealedAccount[]
  /** When the oldest copy was taken. */
  readonly fromMs: number
  readonly note: (text: string) => void
}

/** Heals databases that were set back by the commands of docs/runbook.md, "A restored backup". */
export async function healDatabases(
  services: readonly RestoredService[],
  { product, accounts, fromMs, note }: Healing,
): Promise<void> {
  const order = (...flags: string[]) => readOps(product.dataDir, ...flags, ...why)
  const from = new Date(fromMs - clockOffMs).toISOString()
  const now = () => ['--to', new Date(Date.now() + clockOffMs).toISOString()]
  for (const consumer of ['webhooks-fanout', 'rounds-movements'])
    await order('consumer', 'rewind', consumer, '--from-time', from)
  const isOfRounds = services.includes('rounds')
  let left: unknown[] = []
  const isHealed = async () => {
    left = []
    for (const account of accounts) {
      const flags = [...flagsOf(account), '--heal']
      await order('movement', 'restored', ...flags, '--from', from)
      const open = isOfRounds ? reopened.parse(await order('round', 'reopened', ...flags)) : []
      left.push(...open.filter(({ status }) => status === 'PENDING' || status === 'OPEN'))
      for (const movement of await pendingOf(product, account)) {
        left.push(`${movement.type} ${movement.transactionId}`)
        if (!(await isToBeResolved(movement, account))) continue
        await order('movement', 'resolve', movement.reference, '--as', 'success')
        note(`${movement.type} ${movement.transactionId} ends as the operator's ledger says`)
      }
    }
    return left.length === 0
  }
  if (isOfRounds || services.includes('wallet-bridge'))
    await until(() => `all to be healed, but for ${JSON.stringify(left)}`, isHealed, heal)
  for (const account of isOfRounds ? accounts : [])
    await order('round', 'orphans', ...flagsOf(account), '--heal', '--from', from, ...now())
  await order('event', 'republish', '--from', from, ...now())
}

function flagsOf({ operatorId, environment }: HealedAccount): string[] {
  return ['--operator', operatorId, '--environment', environment]
}

function pendingOf(
  product: Healing['product'],
  { operatorId, environment }: HealedAccount,
): Promise<MovementDocument[]> {
  const scope = {
    operatorId: operatorIdOf(operatorId) ?? '',
    environment: environment === 'LIVE' ? ('LIVE' as const) : ('SANDBOX' as const),
  }
  return withDatabase(product, 'pitboss_wallet_bridge', (db) =>
    db
      .collection<StoredMovement>('movements')
      .find({ walletKey: `${scope.operatorId}/${scope.environment}`, status: 'PENDING' })
      .map(fromListed)
      .toArray(),
  )
}

/**
 * Whether a person ends the credit by the operator's ledger: it was paid, is lost here and asked for again,
 * and its wallet refuses it for its new reference.
 */
async function isToBeResolved(
  { type, call, attempts, transactionId }: MovementDocument,
  { walletUrl }: HealedAccount,
): Promise<boolean> {
  const isRefused = attempts.at(-1)?.walletCode === 'TRANSACTION_CONFLICT'
  if (type === 'BET' || call !== null || !isRefused || walletUrl === undefined) return false
  const path = `/sandbox/ledger?transaction_id=${encodeURIComponent(transactionId)}`
  const { data } = ledgerPage.parse((await send('GET', `${walletUrl}${path}`)).body)
  return data.some((entry) => entry.transaction_id === transactionId && entry.status === 'APPLIED')
}
