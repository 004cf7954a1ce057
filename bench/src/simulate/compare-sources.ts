import { formatAmount } from '@pitboss/money/amount'
import { ledgerRow } from '@pitboss/operator-kit/sandbox-wallet/control-routes'
import { presentRound } from '@pitboss/rounds/present/present-round'
import { toMovementRecord } from '@pitboss/wallet-bridge/settlement/render-movement'
import type { Answers } from '../chaos/answers.ts'
import { checkAnswers } from '../chaos/check/check-answers.ts'
import { checkFacts } from '../chaos/check/check-events.ts'
import { checkMoney } from '../chaos/check/check-money.ts'
import { checkRounds } from '../chaos/check/check-rounds.ts'
import { parseSources, type Sources } from '../chaos/check/sources.ts'
import { createVerdict } from '../chaos/check/verdict.ts'
import type { World } from './world.ts'

type Tables = Pick<World, 'movements' | 'rounds' | 'stream' | 'wallet'>

/** The checker of the chaos run, over the same four sources. @returns the first promise that is broken, or null. */
export function compareSources(tables: Tables, answers: Answers, startingBalance: string): string | null {
  const verdict = createVerdict()
  const sources = sourcesOf(tables)
  checkMoney(sources, () => startingBalance, verdict)
  checkRounds(sources, verdict)
  checkFacts(sources.movements, sources.events, verdict)
  checkAnswers(answers.all(), sources, verdict)
  const first = verdict.invariants().find(({ violations }) => violations.length > 0)
  return first === undefined ? null : `${first.name}: ${first.violations[0] ?? ''}`
}

function sourcesOf({ movements, rounds, stream, wallet: { ledger } }: Tables): Sources {
  const balances = [...ledger.balances].map(([playerId, held]): [string, Record<string, string>] => [
    playerId,
    Object.fromEntries([...held].map(([currency, minor]) => [currency, formatAmount(minor, currency)])),
  ])
  return parseSources({
    movements: [...movements.table.values()].map(toMovementRecord),
    rounds: [...rounds.table.values()].map(({ round }) => presentRound(round)),
    events: stream.events.map(({ body }) => JSON.parse(body)),
    ledger: ledger.entries.map((entry, index) => ({ seq: index + 1, ...ledgerRow(entry, ledger) })),
    balances,
  })
}
