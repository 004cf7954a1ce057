import { z } from 'zod'
import type { StakeStanding } from './calls/rounds.ts'

/** An event, as far as it says something about a stake. */
const loggedEvent = z.object({
  type: z.string(),
  created_at: z.iso.datetime(),
  data: z.object({
    round_id: z.string().optional(),
    transaction_id: z.string().optional(),
    reference_transaction_id: z.string().nullish(),
    type: z.string().optional(),
  }),
})
export type LoggedEvent = z.output<typeof loggedEvent>

/** Reads the envelope of an event; null for one that speaks of no movement and no round. */
export function readLoggedEvent(body: string): LoggedEvent | null {
  return loggedEvent.safeParse(JSON.parse(body)).data ?? null
}

/**
 * What events say of a stake. `taken`: that the wallet took it, or that its round began or ended after the
 * stake was asked for. `not-taken`: it failed, or was rolled back, which a further rollback does not change.
 * `unknown`: that it was taken for another round of the same request, which was lost with a database: a
 * person has to say. `silent`: nothing. Source: docs/contract.md, section 5.
 * @param since when the stake was asked for: the round may have begun with another one
 */
export function standingInEvents(
  events: readonly LoggedEvent[],
  { transactionId, roundId, since }: { transactionId: string; roundId: string; since: Date },
): StakeStanding | 'silent' {
  const isOf = ({ data }: LoggedEvent) => data.transaction_id === transactionId
  const isBackOf = ({ data }: LoggedEvent) => data.reference_transaction_id === transactionId
  const isGone = (event: LoggedEvent) =>
    (event.type === 'transaction.failed' && isOf(event)) ||
    (event.type === 'transaction.rollback' && (isOf(event) || isBackOf(event)))
  if (events.some(isGone)) return 'not-taken'
  const isOfOtherRound = (event: LoggedEvent) =>
    event.type === 'transaction.bet' && isOf(event) && event.data.round_id !== roundId
  if (events.some(isOfOtherRound)) return 'unknown'
  const isTaken = (event: LoggedEvent) => {
    const { type, created_at, data } = event
    if (type === 'transaction.bet') return isOf(event) || isBackOf(event)
    const isOfRound = type === 'round.started' || type === 'round.completed'
    return isOfRound && data.round_id === roundId && Date.parse(created_at) >= since.getTime()
  }
  return events.some(isTaken) ? 'taken' : 'silent'
}
