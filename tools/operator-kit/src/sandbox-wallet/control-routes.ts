import { formatAmount, parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { pageOf, pageQuery } from '../shared/page.ts'
import { parseBody } from '../shared/raw-app.ts'
import type { CallLog } from './answer-call.ts'
import { type FaultPlan, faultsSchema } from './faults.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import type { Wallet } from './open-wallet.ts'
import { playerRule } from './decide.ts'

const PLAYERS_MAX = 1000

const knownCurrency = z.string().refine((code) => currencyDigits(code) !== null, 'is no currency')
const playersBody = z.strictObject({
  players: z
    .array(
      z.strictObject({
        player_id: z.string().min(1).max(128),
        balances: z.record(knownCurrency, z.string()).optional(),
        code: z.string().min(1).max(64).nullable().optional(),
      }),
    )
    .max(PLAYERS_MAX),
})
const ledgerQuery = pageQuery.extend({
  player_id: z.string().optional(),
  round_id: z.string().optional(),
  transaction_id: z.string().optional(),
})
const callsQuery = pageQuery.extend({
  operation: z.enum(['balance', 'debit', 'credit', 'rollback']).optional(),
  player_id: z.string().optional(),
  transaction_id: z.string().optional(),
})
const secretBody = z.strictObject({ secret: z.string().min(1).max(256) })

export type ControlDeps = {
  wallet: Wallet
  faults: FaultPlan
  calls: CallLog
  setSecret: (secret: string) => Promise<void>
}

/**
 * The part of the sandbox wallet that is not a wallet: faults, players, ledger and calls for people and
 * tests.
 */
export function addControlRoutes(
  app: FastifyInstance,
  { wallet, faults, calls, setSecret }: ControlDeps,
): void {
  app.get('/sandbox/faults', async () => faults.list())
  app.put('/sandbox/faults', async (request) => {
    faults.set(parseBody(faultsSchema, request.body))
    return faults.list()
  })
  app.delete('/sandbox/faults', async (_request, reply) => {
    faults.clear()
    return reply.code(204).send()
  })

  app.get('/sandbox/players', async (request) => {
    const { player_id: only } = z.object({ player_id: z.string().optional() }).parse(request.query)
    return {
      data: players(wallet.ledger).filter((player) => only === undefined || player.player_id === only),
    }
  })
  app.put('/sandbox/players', async (request) => {
    const body = parseBody(playersBody, request.body)
    const wanted = body.players.flatMap(({ player_id: playerId, balances = {} }) =>
      Object.entries(balances).map(([code, text]) => ({
        playerId,
        currency: code,
        minor: amountOf(text, code),
      })),
    )
    for (const { playerId, currency, minor } of wanted) wallet.setBalance(playerId, currency, minor)
    for (const { player_id: playerId, code } of body.players) {
      if (code !== undefined) wallet.setCode(playerId, code)
    }
    await wallet.settled()
    const ids = new Set(body.players.map(({ player_id: playerId }) => playerId))
    return { data: players(wallet.ledger).filter((player) => ids.has(player.player_id)) }
  })

  app.get('/sandbox/ledger', async (request) => {
    const query = ledgerQuery.parse(request.query)
    const rows = wallet.ledger.entries.map((entry, index) => ({ seq: index + 1, entry }))
    const found = rows.filter(
      ({ entry }) =>
        (query.player_id === undefined || entry.playerId === query.player_id) &&
        (query.round_id === undefined || entry.roundId === query.round_id) &&
        (query.transaction_id === undefined ||
          entry.transactionId === query.transaction_id ||
          entry.referenceTransactionId === query.transaction_id),
    )
    const page = pageOf(found, query)
    return { ...page, data: page.data.map(({ seq, entry }) => ({ seq, ...ledgerRow(entry, wallet.ledger) })) }
  })

  app.get('/sandbox/calls', async (request) => {
    const query = callsQuery.parse(request.query)
    const found = calls
      .list()
      .filter(
        (call) =>
          (query.operation === undefined || call.operation === query.operation) &&
          (query.player_id === undefined || call.player_id === query.player_id) &&
          (query.transaction_id === undefined || call.transaction_id === query.transaction_id),
      )
    return pageOf(found, query)
  })
  app.delete('/sandbox/calls', async (_request, reply) => {
    calls.clear()
    return reply.code(204).send()
  })

  app.put('/sandbox/secret', async (request, reply) => {
    await setSecret(parseBody(secretBody, request.body).secret)
    return reply.code(204).send()
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
}

function players(ledger: Ledger) {
  const ids = new Set([...ledger.balances.keys(), ...ledger.codes.keys()])
  return [...ids].sort().map((playerId) => ({
    player_id: playerId,
    code: ledger.codes.get(playerId) ?? playerRule(playerId)?.debitCode ?? null,
    balances: Object.fromEntries(
      [...(ledger.balances.get(playerId) ?? [])].map(([currency, minor]) => [
        currency,
        formatAmount(minor, currency),
      ]),
    ),
  }))
}

/** An entry of the ledger as it is shown. */
export function ledgerRow(entry: LedgerEntry, ledger: Ledger) {
  const rolledBack = entry.operation !== 'rollback' && ledger.rollbackOf.has(entry.transactionId)
  return {
    at: entry.at,
    operation: entry.operation,
    type: entry.type,
    transaction_id: entry.transactionId,
    reference_transaction_id: entry.referenceTransactionId,
    reference: entry.reference,
    round_id: entry.roundId,
    game_id: entry.gameId,
    player_id: entry.playerId,
    currency: entry.currency,
    amount: formatAmount(entry.amountMinor, entry.currency),
    effect: formatAmount(entry.effectMinor, entry.currency),
    balance_after: formatAmount(entry.balanceAfterMinor, entry.currency),
    wallet_transaction_id: entry.walletTransactionId,
    status: entry.tombstone ? 'TOMBSTONE' : rolledBack ? 'ROLLED_BACK' : 'APPLIED',
  }
}

function amountOf(text: string, currency: string): bigint {
  try {
    return parseAmount(text, currency)
  } catch (cause) {
    throw new z.ZodError([
      {
        code: 'custom',
        path: ['balances', currency],
        message: cause instanceof Error ? cause.message : 'is wrong',
        input: text,
      },
    ])
  }
}
