/** What an audit needs to know of a round, its movements and its recorded events. */
export type RoundFacts = {
  readonly roundId: string
  readonly status: string
  readonly movements: readonly {
    readonly transaction_id: string
    readonly type: string
    readonly status: string
  }[]
  /** Envelopes as webhooks has recorded them. */
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

/** An event that was never recorded, by its business key. */
export type MissingEvent = {
  readonly service: 'rounds' | 'wallet-bridge'
  readonly round_id: string
  readonly transaction_id: string | null
  readonly type: string
}

const ended = ['SETTLED', 'VOIDED']
const returning = ['transaction.refund', 'transaction.rollback']

/**
 * The terminal facts of a round of which no event is recorded: its end, and the end of each movement. Source:
 * docs/contract.md, section 7.
 */
export function missingEvents({ roundId, status, movements, events }: RoundFacts): MissingEvent[] {
  const of = events.map(({ type, data }) => ({ type: String(type), data: asRecord(data) }))
  const isTold = (type: string) => of.some((event) => event.type === type)
  const missing: MissingEvent[] = []
  if (ended.includes(status) && !isTold('round.completed')) {
    missing.push({ service: 'rounds', round_id: roundId, transaction_id: null, type: 'round.completed' })
  }
  for (const { transaction_id: id, type: kind, status: end } of movements) {
    const type = expectedType(kind, end)
    if (type === null) continue
    const isOwn = of.some((event) => event.type === type && event.data.transaction_id === id)
    // A stake that was given back before it was known to be taken is told by its return alone.
    const isReturned = of.some(
      (event) => returning.includes(event.type) && event.data.reference_transaction_id === id,
    )
    if (isOwn || (end !== 'SUCCESS' && end !== 'FAILED' && isReturned)) continue
    missing.push({ service: 'wallet-bridge', round_id: roundId, transaction_id: id, type })
  }
  return missing
}

/** The event that tells the end of a movement; null while it is pending. */
function expectedType(kind: string, status: string): string | null {
  if (status === 'PENDING') return null
  return status === 'FAILED' ? 'transaction.failed' : `transaction.${kind.toLowerCase()}`
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
