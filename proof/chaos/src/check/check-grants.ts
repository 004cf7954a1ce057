import { groupBy } from './group.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  uses: 'free bets: as many are used as free rounds stand',
  rounds: 'free bets: the rounds that a grant names are those that stand',
  time: 'free bets: none is used after its grant has expired',
  once: 'rounds: one transaction_id of one game is one round',
} as const

/** Grants against the rounds that took one. docs/contract.md, sections 4 and 12. */
export function checkGrants({ grants, rounds, clockSlackMs }: Sources, verdict: Verdict): void {
  const standing = groupBy(
    rounds.filter(({ free_bet, status }) => free_bet && status === 'SETTLED'),
    ({ player_id, game }) => `${player_id}/${game}`,
  )
  for (const [player, own] of groupBy(grants, ({ player_id, game }) => `${player_id}/${game}`)) {
    const free = (standing.get(player) ?? []).map(({ round_id }) => round_id).toSorted()
    const used = own.reduce((sum, { count, remaining }) => sum + count - remaining, 0)
    verdict.check(names.uses, used === free.length, () => `${player}: ${used} used, ${free.length} rounds`)
    standing.delete(player)
    const uses = own.flatMap((grant) => grant.uses ?? []).toSorted()
    if (own.every((grant) => grant.uses !== undefined)) {
      const same = uses.length === free.length && uses.every((use, index) => use === free[index])
      verdict.check(names.rounds, same, () => `${player}: ${uses.join(' ')} used, ${free.join(' ')} stand`)
    }
  }
  const begun = new Map(rounds.map(({ round_id, created_at }) => [round_id, created_at]))
  for (const { grant_id, uses = [], ends_at: endsAt } of grants) {
    for (const roundId of endsAt === undefined ? [] : uses) {
      const begunAt = begun.get(roundId) ?? ''
      const late = Date.parse(begunAt) >= Date.parse(endsAt ?? '') + clockSlackMs
      verdict.check(names.time, !late, () => `${grant_id} until ${endsAt}: ${roundId} of ${begunAt}`)
    }
  }
  for (const [player, free] of standing) {
    verdict.check(names.uses, false, () => `${player}: ${free.length} free rounds without a grant`)
  }
  const named = groupBy(rounds, ({ player_id, game, client_transaction_id: id }) =>
    typeof id === 'string' ? `${player_id}/${game}/${id}` : null,
  )
  for (const [id, own] of named) {
    verdict.check(
      names.once,
      own.length === 1,
      () => `${id}: ${own.map(({ round_id, status }) => `${round_id} ${status}`).join(' and ')}`,
    )
  }
}
