import type { ClientDeps } from './client.ts'
import { settleWith } from './operator-server.ts'

const afterMs = { least: 200, most: 6000 }
const winsMax = 3

/**
 * Once a day has turned, the operator's server takes back wins of rounds that had ended before, as a person
 * who closes the books does.
 */
export async function takeBackWins(deps: ClientDeps, turnsAtMs: number): Promise<void> {
  const { random, world } = deps
  const { timeline, movements, rounds } = world
  const settle = settleWith(deps)
  await timeline.wait(turnsAtMs + random.between(afterMs.least, afterMs.most) - timeline.nowMs())
  const isOver = (roundId: string) => {
    const endedAtMs = rounds.table.get(roundId)?.round.completedAt?.getTime() ?? Infinity
    return endedAtMs < turnsAtMs
  }
  const wins = [...movements.table.values()].filter(
    ({ type, status, driver, operation, reversal, roundId }) =>
      type === 'WIN' &&
      status === 'SUCCESS' &&
      driver === 'operator' &&
      operation !== null &&
      reversal === null &&
      isOver(roundId),
  )
  for (const { reference, transactionId: id } of wins.slice(0, winsMax)) {
    await settle({ type: 'ROLLBACK', transaction_id: `late.${reference}`, reference_transaction_id: id })
  }
}
