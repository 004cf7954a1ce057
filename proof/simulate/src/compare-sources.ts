import { formatAmount } from '@pitboss/money/amount'
import { ledgerRow } from '@pitboss/operator-kit/sandbox-wallet/control-routes'
import { presentRound } from '@pitboss/rounds/records/present-round'
import { toMovementRecord } from '@pitboss/wallet-bridge/records/render-movement'
import type { Answers } from '@pitboss/chaos/answers'
import { inCurrency } from '@pitboss/chaos/in-currency'
import { checkAnswers } from '@pitboss/chaos/check/check-answers'
import { checkFacts } from '@pitboss/chaos/check/check-events'
import { checkEventData } from '@pitboss/chaos/check/check-event-data'
import { checkGrants } from '@pitboss/chaos/check/check-grants'
import { checkMoney } from '@pitboss/chaos/check/check-money'
import { checkRefusals } from '@pitboss/chaos/check/check-refusals'
import { checkRounds } from '@pitboss/chaos/check/check-rounds'
import { checkTotals } from '@pitboss/chaos/check/check-totals'
import { parseSources, type Sources } from '@pitboss/chaos/check/sources'
import { createVerdict } from '@pitboss/chaos/check/verdict'
import type { Acceptance } from './accepted.ts'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

type Tables = Pick<World, 'movements' | 'rounds' | 'grants' | 'stream' | 'wallet'>

/** Facts that the run knows besides its tables. */
type Notes = {
  readonly answers: Answers
  readonly accepted: ReadonlyMap<string, Acceptance>
  readonly startingBalance: string
  /** The most by which two clocks of the run differed. */
  readonly clockSlackMs: number
}

/**
 * The checker of the chaos run, over the same four sources.
 * @throws BrokenInvariant the first promise that does not hold.
 */
export function compareSources(
  tables: Tables,
  { answers, accepted, startingBalance, clockSlackMs }: Notes,
): void {
  const verdict = createVerdict()
  const sources = sourcesOf(tables, accepted, clockSlackMs)
  // Every player has one currency.
  const currencyOf = new Map(sources.rounds.map(({ player_id, currency }) => [player_id, currency]))
  const startOf = (playerId: string) => inCurrency(startingBalance, currencyOf.get(playerId) ?? 'USD')
  checkMoney(sources, startOf, verdict)
  checkRounds(sources, verdict)
  checkTotals(sources, verdict)
  checkGrants(sources, verdict)
  checkFacts(sources, verdict)
  checkEventData(sources, verdict)
  checkAnswers(answers.all(), sources, verdict)
  checkRefusals(answers.all(), sources, verdict)
  const first = verdict.invariants().find(({ violations }) => violations.length > 0)
  if (first !== undefined) throw new BrokenInvariant(first.name, first.violations[0] ?? '')
}

/**
 * The grants as they are read. Where their uses were set back, those of rounds that stand are counted beside
 * the count, for as often a free bet may be played once more; and one that had been given back is used again.
 */
function grantsOf({ grants, rounds }: Pick<Tables, 'grants' | 'rounds'>) {
  const { forgotten } = grants
  const free = [...rounds.table.values()].flatMap(({ round }) =>
    round.freeBet && round.status === 'SETTLED' ? [round] : [],
  )
  return [...grants.table.values()].map(({ _id, playerId, game, remaining, ...grant }) => {
    const known = new Set(grant.uses)
    const lost = free.filter(({ id, grantId }) => grantId === _id && forgotten.has(id) && !known.has(id))
    const standing = grant.uses.filter((use) => free.some(({ id }) => id === use))
    const uses = grants.isRestored ? [...standing, ...lost.map(({ id }) => id)] : grant.uses
    const count = grants.isRestored ? remaining + uses.length : grant.count
    return {
      ...{ grant_id: _id, player_id: playerId, game, count, remaining, uses },
      ends_at: grant.endsAt.toISOString(),
    }
  })
}

function sourcesOf(
  { movements, rounds, grants, stream, wallet: { ledger } }: Tables,
  accepted: Notes['accepted'],
  clockSlackMs: number,
): Sources {
  const balances = [...ledger.balances].map(([playerId, held]): [string, Record<string, string>] => [
    playerId,
    Object.fromEntries([...held].map(([currency, minor]) => [currency, formatAmount(minor, currency)])),
  ])
  return parseSources({
    movements: [...movements.table.values()].map(toMovementRecord),
    rounds: [...rounds.table.values()].map(({ round }) => ({
      ...presentRound(round),
      client_transaction_id: round.clientTransactionId,
    })),
    grants: grantsOf({ grants, rounds }),
    events: stream.events.map(({ body }) => JSON.parse(body)),
    ledger: ledger.entries.map((entry, index) => ({ seq: index + 1, ...ledgerRow(entry, ledger) })),
    balances,
    accepted,
    clockSlackMs,
  })
}
