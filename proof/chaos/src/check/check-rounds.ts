import { verifyRound } from '@pitboss/fairness/verify-round'
import { groupBy } from './group.ts'
import type { Event, Round } from './rows.ts'
import { paidByHand } from './paid-by-hand.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  terminal: 'rounds: no round is left unfinished',
  overlap: 'rounds: never two unfinished rounds of one player in one game',
  nonce: 'rounds: nonces run 1, 2, 3 … without gaps',
  completed: 'rounds: started and completed are told exactly once, of started rounds alone',
  same: 'rounds: the event says what the final read says',
  verifies: 'rounds: every finished round recomputes from its event',
  paid: 'rounds: a payout is the stake by the multiplier of its bet, cut to the minor unit',
} as const

const terminal = ['SETTLED', 'VOIDED', 'FAILED']

/** Rounds as they are read at the end against their events. */
export function checkRounds({ rounds, events, restored, clockSlackMs }: Sources, verdict: Verdict): void {
  const told = groupBy(
    events.filter(({ type }) => type.startsWith('round.')),
    ({ data }) => String(data.round_id),
  )
  for (const round of rounds) {
    const done = terminal.includes(round.status) && round.completed_at !== null
    verdict.check(names.terminal, done, () => `${show(round)} since ${round.created_at}`)
    const own = told.get(round.round_id) ?? []
    if (done && restored?.changed.has(round.round_id) !== true) checkEvents(round, own, verdict)
    told.delete(round.round_id)
  }
  for (const roundId of told.keys()) {
    if (restored?.lost.has(roundId) === true) continue
    verdict.check(names.completed, false, () => `${roundId} is told of and cannot be read`)
  }
  for (const [chain, own] of groupBy(rounds, ({ player_id, game }) => `${player_id}/${game}`)) {
    const ordered = own.toSorted((a, b) => a.fairness.nonce - b.fairness.nonce)
    const gaps = lostNonces(restored, chain)
    // A lost round of which no event tells takes a place behind all that are known, wherever its nonce was.
    let places = gaps.size
    let expected = 0
    for (const [index, round] of ordered.entries()) {
      const nonce = round.fairness.nonce
      do expected += 1
      while (expected < nonce && (gaps.has(expected) || places-- > 0))
      verdict.check(
        names.nonce,
        nonce === expected,
        () => `${chain}: ${round.round_id} has nonce ${nonce}, not ${expected}`,
      )
      const before = ordered[index - 1]
      if (before === undefined) continue
      const apart =
        before.completed_at !== null &&
        Date.parse(before.completed_at) <= Date.parse(round.created_at) + clockSlackMs
      verdict.check(
        names.overlap,
        apart,
        () =>
          `${chain}: ${round.round_id} began ${round.created_at}, ${before.round_id} ended ${before.completed_at}`,
      )
    }
  }
}

/** Nonces of rounds that a restored database has lost. */
function lostNonces(restored: Sources['restored'], chain: string): Set<number> {
  const lost = [...(restored?.lost.values() ?? [])]
  return new Set(lost.flatMap(({ sequence, nonce }) => (sequence === chain ? [nonce] : [])))
}

function checkEvents(round: Round, own: Event[], verdict: Verdict): void {
  const count = (type: string) => own.filter((event) => event.type === type).length
  const started = count('round.started')
  const completed = count('round.completed')
  const right =
    round.status === 'SETTLED'
      ? started === 1 && completed === 1
      : round.status === 'FAILED'
        ? started === 0 && completed === 0
        : started === completed && started <= 1
  verdict.check(names.completed, right, () => `${show(round)}: ${started} started, ${completed} completed`)
  const end = own.find(({ type }) => type === 'round.completed')
  if (end === undefined) return
  const agrees = end.data.status === round.status && end.data.payout === round.payout
  verdict.check(names.same, agrees, () => `${show(round)}: the event says ${JSON.stringify(end.data)}`)
  const { valid, checks } = verifyRound(end.data)
  verdict.check(
    names.verifies,
    valid,
    () => `${show(round)}: ${JSON.stringify(checks.filter(({ ok }) => !ok))}`,
  )
  const paid = paidByHand(end.data)
  verdict.check(
    names.paid,
    paid === null || paid === end.data.payout,
    () => `${show(round)} should pay ${paid}`,
  )
}

function show({ round_id, status, driver, game, player_id, payout }: Round): string {
  return `${round_id} ${status} payout ${payout} (${driver}, ${game}, ${player_id})`
}
