import { z } from 'zod'
import type { DemoFile } from '@pitboss/stack/demo-file'
import type { OperatorClient } from '../operator-client.ts'
import { untilStatus } from '../operator-client.ts'
import { send } from '../send.ts'

const movement = z.looseObject({
  transaction_id: z.string(),
  reference: z.string(),
  type: z.enum(['BET', 'WIN', 'REFUND', 'ROLLBACK']),
  status: z.enum(['PENDING', 'SUCCESS', 'FAILED', 'REFUNDED', 'ROLLED_BACK']),
  amount: z.string(),
  currency: z.string(),
  player_id: z.string(),
  round_id: z.string(),
  free_bet: z.boolean(),
  reference_transaction_id: z.string().nullable(),
  wallet_code: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Movement = z.infer<typeof movement>

const round = z.looseObject({
  round_id: z.string(),
  player_id: z.string(),
  game: z.string(),
  status: z.string(),
  stake: z.string(),
  payout: z.string().nullable(),
  currency: z.string(),
  free_bet: z.boolean(),
  driver: z.string(),
  wallet_round_id: z.string(),
  fairness: z.looseObject({ nonce: z.number(), server_seed: z.string().nullable() }),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  end_reason: z.string().nullable(),
  /** Known to a simulation alone. */
  client_transaction_id: z.string().nullish(),
})
export type Round = z.infer<typeof round>

const event = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  environment: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export type Event = z.infer<typeof event>

const delivery = z.looseObject({
  delivery_id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  status: z.string(),
  attempt_count: z.number(),
  next_attempt_at: z.string().nullable(),
  created_at: z.string(),
})
export type Delivery = z.infer<typeof delivery>

const deliveryDetail = delivery.extend({
  attempts: z.array(z.looseObject({ sent_at: z.string(), duration_ms: z.number().nullable() })),
})
export type DeliveryDetail = z.infer<typeof deliveryDetail>

const attempts = z.object({
  data: z.array(
    z.looseObject({
      attempt: z.number(),
      sent_at: z.string(),
      latency_ms: z.number().nullable(),
      next_attempt_at: z.string().nullable(),
    }),
  ),
})
export type Attempt = z.infer<typeof attempts>['data'][number]

const ledgerEntry = z.looseObject({
  seq: z.number(),
  at: z.string(),
  operation: z.string(),
  transaction_id: z.string().nullable(),
  reference_transaction_id: z.string().nullable(),
  round_id: z.string().nullable(),
  player_id: z.string(),
  currency: z.string(),
  amount: z.string(),
  effect: z.string(),
  status: z.string(),
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

const walletCall = z.looseObject({
  seq: z.number(),
  at: z.string(),
  operation: z.string(),
  transaction_id: z.string().nullable(),
  duration_ms: z.number(),
  body: z.string(),
})
export type WalletCall = z.infer<typeof walletCall>

const received = z.looseObject({
  seq: z.number(),
  verified: z.boolean(),
  reason: z.string().nullable(),
  event_id: z.string().nullable(),
  attempt: z.number().nullable(),
  answered_status: z.number().nullable(),
  raw_body: z.string(),
})
export type Received = z.infer<typeof received>

const grant = z.looseObject({
  grant_id: z.string(),
  player_id: z.string(),
  game: z.string(),
  count: z.number(),
  remaining: z.number(),
  /** The rounds that took one; known to a simulation alone. */
  uses: z.array(z.string()).optional(),
})
export type Grant = z.infer<typeof grant>

const players = z.object({
  data: z.array(z.looseObject({ player_id: z.string(), balances: z.record(z.string(), z.string()) })),
})
const sequence = z.object({ data: z.array(z.unknown()), next_after: z.number().nullable() })

/** Three of the four sources, read when everything is at rest; the fourth are the clients' own notes. */
export type Sources = {
  movements: Movement[]
  rounds: Round[]
  grants: Grant[]
  /** In which round, and since when, ids were the product's own; known to a simulation alone. */
  accepted: ReadonlyMap<string, { roundId: string; atMs: number }> | null
  sessions: Record<string, unknown>[]
  events: Event[]
  deliveries: Delivery[]
  ledger: LedgerEntry[]
  /** Calls that the wallet remembers. */
  calls: WalletCall[]
  liveLedger: LedgerEntry[]
  liveMovements: number
  received: Received[]
  balances: Map<string, Record<string, string>>
  /** The most by which two clocks of the run may have differed. */
  clockSlackMs: number
}

export async function readSources(
  demo: DemoFile,
  operator: OperatorClient,
  live: OperatorClient,
  since: string,
  clockSlackMs: number,
): Promise<Sources> {
  const window = `from=${encodeURIComponent(since)}`
  const rows = async <Row>(schema: z.ZodType<Row>, path: string) =>
    z.array(schema).parse(await operator.all(path))
  const wallet = await untilStatus(200, () => send('GET', `${demo.wallet.url}/sandbox/players`))
  return {
    movements: await rows(movement, `/transactions?${window}`),
    rounds: await rows(round, `/rounds?${window}`),
    grants: await rows(grant, '/free-bets'),
    accepted: null,
    sessions: await operator.all(`/sessions?${window}`),
    events: await rows(event, `/events?${window}`),
    deliveries: await rows(delivery, `/webhook-deliveries?${window}`),
    ledger: await readSequence(ledgerEntry, `${demo.wallet.url}/sandbox/ledger`),
    calls: await readSequence(walletCall, `${demo.wallet.url}/sandbox/calls`),
    liveLedger: await readSequence(ledgerEntry, `${demo.live_wallet.url}/sandbox/ledger`),
    liveMovements: (await live.all(`/transactions?${window}`)).length,
    received: await readSequence(received, new URL('/demo/received', demo.receiver.url).href),
    balances: new Map(
      players.parse(wallet.body).data.map(({ player_id, balances }) => [player_id, balances]),
    ),
    clockSlackMs,
  }
}

/** The tries of those credits and rollbacks that took longest, `max` of them. */
export async function readTries(
  movements: readonly Movement[],
  operator: OperatorClient,
  max: number,
): Promise<{ movement: Movement; attempts: Attempt[] }[]> {
  const tookMs = ({ created_at, updated_at }: Movement) => Date.parse(updated_at) - Date.parse(created_at)
  const longest = movements
    .filter(({ type }) => type !== 'BET')
    .toSorted((a, b) => tookMs(b) - tookMs(a))
    .slice(0, max)
  const tried: { movement: Movement; attempts: Attempt[] }[] = []
  for (const movement of longest) {
    const path = `/transactions/${encodeURIComponent(movement.transaction_id)}/attempts`
    const answer = await untilStatus(200, () => operator.call('GET', path))
    tried.push({ movement, attempts: attempts.parse(answer.body).data })
  }
  return tried
}

/** Deliveries with their attempts. @param token of a person, who alone may read them */
export async function readDeliveries(
  deliveries: readonly Delivery[],
  operator: OperatorClient,
  token: string,
): Promise<DeliveryDetail[]> {
  const details: DeliveryDetail[] = []
  for (const { delivery_id } of deliveries) {
    const url = `${operator.base}/dashboard/webhook-deliveries/${delivery_id}`
    const answer = await untilStatus(200, () => send('GET', url, { token }))
    details.push(deliveryDetail.parse(answer.body))
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
    movements: z.array(movement).parse(given.movements),
    rounds: z.array(round).parse(given.rounds),
    grants: z.array(grant).parse(given.grants),
    accepted: given.accepted,
    events: z.array(event).parse(given.events),
    ledger: z.array(ledgerEntry).parse(given.ledger),
    sessions: [],
    deliveries: [],
    calls: [],
    liveLedger: [],
    liveMovements: 0,
    received: [],
    balances: new Map(given.balances),
    clockSlackMs: given.clockSlackMs,
  }
}

/** Events that the receiver holds by now. */
export function readReceived(demo: DemoFile): Promise<Received[]> {
  return readSequence(received, new URL('/demo/received', demo.receiver.url).href)
}

async function readSequence<Row>(schema: z.ZodType<Row>, url: string): Promise<Row[]> {
  const rows: Row[] = []
  let after: number | null = 0
  while (after !== null) {
    const at: number = after
    const answer = await untilStatus(200, () => send('GET', `${url}?limit=1000&after=${at}`))
    const { data, next_after }: z.infer<typeof sequence> = sequence.parse(answer.body)
    rows.push(...z.array(schema).parse(data))
    after = next_after
  }
  return rows
}
