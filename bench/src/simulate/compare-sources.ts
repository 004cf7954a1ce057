import { formatAmount } from '@pitboss/money/amount'
import { ledgerRow } from '@pitboss/operator-kit/sandbox-wallet/control-routes'
import { presentRound } from '@pitboss/rounds/present/present-round'
import { toMovementRecord } from '@pitboss/wallet-bridge/settlement/render-movement'
import type { Answers } from '../chaos/answers.ts'
import { checkAnswers } from '../chaos/check/check-answers.ts'
import { checkFacts } from '../chaos/check/check-events.ts'
import { checkGrants } from '../chaos/check/check-grants.ts'
import { checkMoney } from '../chaos/check/check-money.ts'
import { checkRefusals } from '../chaos/check/check-refusals.ts'
import { checkRounds } from '../chaos/check/check-rounds.ts'
import { checkTotals } from '../chaos/check/check-totals.ts'
import { parseSources, type Sources } from '../chaos/check/sources.ts'
import { createVerdict } from '../chaos/check/verdict.ts'
import type { Acceptance } from './accepted.ts'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

type Tables = Pick<World, 'movements' | 'rounds' | 'grants' | 'stream' | 'wallet'>

/** What the run knows besides its tables. */
type Notes = {
  readonly answers: Answers
  readonly accepted: ReadonlyMap<string, Acceptance>
  readonly startingBalance: string
}

/**
 * The checker of the chaos run, over the same four sources.
 * @throws BrokenInvariant the first promise that does not hold.
 */
export function compareSources(tables: Tables, { answers, accepted, startingBalance }: Notes): void {
  const verdict = createVerdict()
  const sources = sourcesOf(tables, accepted)
  checkMoney(sources, () => startingBalance, verdict)
  checkRounds(sources, verdict)
  checkTotals(sources, verdict)
  checkGrants(sources, verdict)
  checkFacts(sources.movements, sources.events, verdict)
  checkAnswers(answers.all(), sources, verdict)
  checkRefusals(answers.all(), sources, verdict)
  const first = verdict.invariants().find(({ violations }) => violations.length > 0)
  if (first !== undefined) throw new BrokenInvariant(first.name, first.violations[0] ?? '')
}

function sourcesOf(
  { movements, rounds, grants, stream, wallet: { ledger } }: Tables,
  accepted: Notes['accepted'],
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
    grants: [...grants.table.values()].map(({ _id, playerId, game, count, remaining, uses }) => ({
      ...{ grant_id: _id, player_id: playerId, game, count, remaining, uses },
    })),
    events: stream.events.map(({ body }) => JSON.parse(body)),
    ledger: ledger.entries.map((entry, index) => ({ seq: index + 1, ...ledgerRow(entry, ledger) })),
    balances,
    accepted,
  })
}
