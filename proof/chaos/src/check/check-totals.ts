import { isDeepStrictEqual } from 'node:util'
import { parseAmount } from '@pitboss/money/amount'
import { groupBy } from './group.ts'
import type { Movement, Round } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  stake: 'totals: the stake of a settled round is what its bets took',
  payout: 'totals: the payout of an ended round is what its wins paid',
  voided: 'totals: no win stands in a round that is voided or refused',
  held: 'totals: no win stands in a round whose stakes do not',
  told: 'totals: round.completed says what the record says',
} as const

/**
 * Stake and payout of every ended round against its movements and its event. docs/contract.md, sections 4, 5
 * and 12.
 */
export function checkTotals(
  { rounds, movements, events, restored, clockSlackMs }: Sources,
  verdict: Verdict,
): void {
  const byRound = groupBy(movements, ({ round_id }) => round_id)
  const completed = new Map(
    events.flatMap(({ type, data }) =>
      type === 'round.completed' ? [[String(data.round_id), data] as const] : [],
    ),
  )
  for (const round of rounds) {
    if (round.completed_at === null || restored?.changed.has(round.round_id) === true) continue
    const own = byRound.get(round.round_id) ?? []
    const bets = own.filter(({ type, status }) => type === 'BET' && status === 'SUCCESS')
    const wins = own.filter(({ type, status }) => type === 'WIN' && status === 'SUCCESS')
    const show = () =>
      `${round.round_id} ${round.status} (${round.driver}): ${own.map(showMovement).join('; ')}`
    if (round.status === 'SETTLED' && !round.free_bet) {
      const taken = sumOf(bets)
      verdict.check(
        names.stake,
        taken === parseAmount(round.stake, round.currency),
        () => `stake ${round.stake}; ${show()}`,
      )
    }
    verdict.check(names.payout, isPaid(round, own, clockSlackMs), () => `payout ${round.payout}; ${show()}`)
    if (round.status !== 'SETTLED') verdict.check(names.voided, wins.length === 0, show)
    const credits = wins.filter((win) => minorOf(win) !== 0n)
    if (!round.free_bet && credits.length > 0) verdict.check(names.held, bets.length > 0, show)
    const data = completed.get(round.round_id)
    if (data === undefined) continue
    const other = Object.entries(data).filter(([name, value]) => !isDeepStrictEqual(round[name], value))
    verdict.check(
      names.told,
      other.length === 0,
      () =>
        `${round.round_id}: ${other.map(([name, value]) => `${name} ${JSON.stringify(value)} in the event, ${JSON.stringify(round[name])} in the record`).join('; ')}`,
    )
  }
}

/**
 * A win that was rolled back after its round had ended was paid all the same; one that was before may count
 * or not.
 */
export function isPaid(
  { payout, currency, completed_at: endedAt }: Round,
  own: readonly Movement[],
  clockSlackMs: number,
): boolean {
  const reversals = groupBy(
    own.filter(({ type, status }) => type === 'ROLLBACK' && status === 'SUCCESS'),
    ({ reference_transaction_id }) => reference_transaction_id,
  )
  let least = 0n
  let unsure = 0n
  for (const movement of own) {
    const { type, status, transaction_id: id } = movement
    if (type !== 'WIN') continue
    if (status === 'SUCCESS') least += minorOf(movement)
    const undoneAt = reversals.get(id)?.[0]?.created_at
    if (undoneAt === undefined || endedAt === null) continue
    if (Date.parse(undoneAt) > Date.parse(endedAt) + clockSlackMs) least += minorOf(movement)
    else unsure += minorOf(movement)
  }
  const paid = payout === null ? -1n : parseAmount(payout, currency)
  return paid >= least && paid <= least + unsure
}

function sumOf(movements: readonly Movement[]): bigint {
  return movements.reduce((total, movement) => total + minorOf(movement), 0n)
}

function minorOf({ amount, currency }: Movement): bigint {
  return parseAmount(amount, currency)
}

function showMovement({ type, transaction_id: id, status, amount }: Movement): string {
  return `${type} ${id} ${status} ${amount}`
}
