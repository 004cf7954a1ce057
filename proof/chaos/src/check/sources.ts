import { z } from 'zod'
import type { OperatorClient } from '../operator-client.ts'
import { untilStatus } from '../operator-client.ts'
import { send } from '../send.ts'
import type { RestoredPart } from './restored.ts'
import * as rows from './rows.ts'

const players = z.object({
  data: z.array(z.looseObject({ player_id: z.string(), balances: z.record(z.string(), z.string()) })),
})
const sequence = z.object({ data: z.array(z.unknown()), next_after: z.number().nullable() })
const report = z.object({ data: z.array(rows.reportRow) })

/**
 * Three of the four sources of one account's environment, read when everything is at rest; the fourth are
 * the clients' own notes.
 */
export type Sources = {
  movements: rows.Movement[]
  rounds: rows.Round[]
  grants: rows.Grant[]
  /** In which round, and since when, ids were the product's own; known to a simulation alone. */
  accepted: ReadonlyMap<string, { roundId: string; atMs: number }> | null
  sessions: Record<string, unknown>[]
  events: rows.Event[]
  deliveries: rows.Delivery[]
  ledger: rows.LedgerEntry[]
  /** Every call on its way to the wallet. */
  calls: readonly rows.WalletCall[]
  received: rows.Received[]
  /** By player, then by currency. */
  balances: Map<string, Record<string, string>>
  /** The summary by day and currency; null in a simulation, which has none. */
  report: rows.ReportRow[] | null
  /** What a restore of the database of rounds has lost; null without one. */
  restored: RestoredPart | null
  /** The most by which two clocks of the run may have differed. */
  clockSlackMs: number
}

export async function readSources({
  operator,
  walletUrl,
  receiverUrl,
  calls,
  since,
  restored,
  clockSlackMs,
}: {
  operator: OperatorClient
  /** Address of the wallet's own notes. */
  walletUrl: string
  /** Null where nothing is delivered. */
  receiverUrl: string | null
  calls: readonly rows.WalletCall[]
  since: string
  restored: RestoredPart | null
  clockSlackMs: number
}): Promise<Sources> {
  const window = `from=${encodeURIComponent(since)}`
  const all = async <Row>(schema: z.ZodType<Row>, path: string) =>
    z.array(schema).parse(await operator.all(path))
  const wallet = await untilStatus(200, () => send('GET', `${walletUrl}/sandbox/players`))
  const summary = await untilStatus(200, () =>
    operator.call('GET', `/reports/summary?${window}&group_by=day,currency`),
  )
  return {
    movements: await all(rows.movement, `/transactions?${window}`),
    rounds: await all(rows.round, `/rounds?${window}`),
    grants: await all(rows.grant, '/free-bets'),
    accepted: null,
    sessions: await operator.all(`/sessions?${window}`),
    events: await all(rows.event, `/events?${window}`),
    deliveries: await all(rows.delivery, `/webhook-deliveries?${window}`),
    ledger: await readSequence(rows.ledgerEntry, `${walletUrl}/sandbox/ledger`),
    calls,
    received: receiverUrl === null ? [] : await readReceived(receiverUrl),
    balances: new Map(
      players.parse(wallet.body).data.map(({ player_id, balances }) => [player_id, balances]),
    ),
    report: report.parse(summary.body).data,
    restored,
    clockSlackMs,
  }
}

/** The tries of those credits and rollbacks that took longest, `max` of them. */
export async function readTries(
  movements: readonly rows.Movement[],
  operator: OperatorClient,
  max: number,
): Promise<{ movement: rows.Movement; attempts: rows.Attempt[] }[]> {
  const tookMs = ({ created_at, updated_at }: rows.Movement) =>
    Date.parse(updated_at) - Date.parse(created_at)
  const longest = movements
    .filter(({ type }) => type !== 'BET')
    .toSorted((a, b) => tookMs(b) - tookMs(a))
    .slice(0, max)
  const tried: { movement: rows.Movement; attempts: rows.Attempt[] }[] = []
  for (const movement of longest) {
    const path = `/transactions/${encodeURIComponent(movement.transaction_id)}/attempts`
    const answer = await untilStatus(200, () => operator.call('GET', path))
    tried.push({ movement, attempts: rows.attempts.parse(answer.body).data })
  }
  return tried
}

/** Deliveries with their attempts. @param token of a person, who alone may read them */
export async function readDeliveries(
  deliveries: readonly rows.Delivery[],
  operator: OperatorClient,
  token: string,
): Promise<rows.DeliveryDetail[]> {
  const details: rows.DeliveryDetail[] = []
  for (const { delivery_id } of deliveries) {
    const url = `${operator.base}/dashboard/webhook-deliveries/${delivery_id}`
    const answer = await untilStatus(200, () => send('GET', url, { token }))
    details.push(rows.deliveryDetail.parse(answer.body))
  }
  return details
}

/** The part of the sources that a simulation has. */
export function parseSources(
  given: Record<'movements' | 'rounds' | 'grants' | 'events' | 'ledger', readonly unknown[]> & {
    balances: Iterable<[string, Record<string, string>]>
    accepted: NonNullable<Sources['accepted']>
    clockSlackMs: number
  },
): Sources {
  return {
    movements: z.array(rows.movement).parse(given.movements),
    rounds: z.array(rows.round).parse(given.rounds),
    grants: z.array(rows.grant).parse(given.grants),
    accepted: given.accepted,
    events: z.array(rows.event).parse(given.events),
    ledger: z.array(rows.ledgerEntry).parse(given.ledger),
    sessions: [],
    deliveries: [],
    calls: [],
    received: [],
    balances: new Map(given.balances),
    report: null,
    restored: null,
    clockSlackMs: given.clockSlackMs,
  }
}

/** Deliveries that the demo receiver holds by now. */
export function readReceived(receiverUrl: string): Promise<rows.Received[]> {
  return readSequence(rows.received, new URL('/demo/received', receiverUrl).href)
}

async function readSequence<Row>(schema: z.ZodType<Row>, url: string): Promise<Row[]> {
  const found: Row[] = []
  let after: number | null = 0
  while (after !== null) {
    const at: number = after
    const answer = await untilStatus(200, () => send('GET', `${url}?limit=1000&after=${at}`))
    const { data, next_after }: z.infer<typeof sequence> = sequence.parse(answer.body)
    found.push(...z.array(schema).parse(data))
    after = next_after
  }
  return found
}
