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
 * `unknown`: a person has to say. It was taken for another round of the same request, which was lost with a
 * database; or its round began with another stake perhaps, since clocks may be apart. `silent`: nothing.
 * Source: docs/contract.md, section 5.
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
  const isTaken = (event: LoggedEvent) => event.type === 'transaction.bet' && (isOf(event) || isBackOf(event))
  const isLater = (type: string) => (event: LoggedEvent) =>
    event.type === type && event.data.round_id === roundId && Date.parse(event.created_at) >= since.getTime()
  if (events.some(isTaken) || events.some(isLater('round.completed'))) return 'taken'
  if (!events.some(isLater('round.started'))) return 'silent'
  const isOfAnotherStake = ({ type, data }: LoggedEvent) =>
    type === 'transaction.bet' && data.type === 'BET' && data.round_id === roundId
  return events.some(isOfAnotherStake) ? 'unknown' : 'taken'
}
