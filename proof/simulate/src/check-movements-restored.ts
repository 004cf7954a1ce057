import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

/**
 * The promises that outlast movements which were set back, while the operator's wallet keeps what it knows,
 * and rounds, too, unless they were set back as well. Recovery may leave a movement unknown for good, a round
 * that waits for it, or a win that its round has taken back since; it never takes a stake or pays a win or a
 * refund of a round a second time, for what is asked again is asked under its first id. It takes back no
 * stake that was played. Of rounds that were set back, too, the operator's server may give stakes back that
 * it had played on, and an open board that its player had ended may end once more, as abandoned: `ops round
 * reopened` is not simulated.
 * @throws BrokenInvariant
 */
export function checkMovementsRestored({ rounds, wallet: { ledger }, faults }: World): void {
  const knowsRounds = faults.restore === 'movements'
  const standing = Map.groupBy(
    ledger.entries.filter(
      ({ transactionId, tombstone }) => !tombstone && !ledger.rollbackOf.has(transactionId),
    ),
    ({ roundId }) => roundId,
  )
  for (const { round } of rounds.table.values()) {
    const own = standing.get(round.walletRoundId) ?? []
    const show = () => `${round.id}: ${own.map((one) => `${one.operation} ${one.transactionId}`).join(', ')}`
    const holds = (name: string, is: boolean) => {
      if (!is) throw new BrokenInvariant(`after a restore of movements: ${name}`, show())
    }
    const ids = new Set(own.map(({ transactionId }) => transactionId))
    for (const { transactionId, state } of round.status === 'SETTLED' && !round.freeBet ? round.stakes : []) {
      const isKept = state === 'TAKEN' && (knowsRounds || round.driver === 'game')
      if (isKept) holds('the stake of a settled round stands', ids.has(transactionId))
    }
    const debits = own.filter(({ operation }) => operation === 'debit')
    const credits = own.filter(
      ({ operation, type }) => operation === 'credit' && (knowsRounds || type === 'WIN'),
    )
    if (round.driver === 'game') {
      holds('a round that we play takes one stake', debits.length <= 1)
      holds('a round that we play is paid once', credits.length <= 1)
    }
  }
  // Whatever became of their rounds, also of those that were set back. Free bets have no debit.
  const debited = new Set(
    ledger.entries.filter(({ operation }) => operation === 'debit').map(({ roundId }) => roundId),
  )
  for (const [roundId, own] of standing) {
    const win = own.find(({ type, transactionId }) => type === 'WIN' && transactionId.startsWith('win_'))
    const isPlayed = own.some(({ operation }) => operation === 'debit') || !debited.has(roundId)
    if (win !== undefined && !isPlayed) {
      throw new BrokenInvariant('after a restore of movements: no win stands without its stake', roundId)
    }
  }
  const ids = ledger.entries.filter(({ tombstone }) => !tombstone).map(({ transactionId }) => transactionId)
  const twice = ids.find((id, at) => ids.indexOf(id) !== at)
  if (twice !== undefined)
    throw new BrokenInvariant('after a restore of movements: an id is applied once', twice)
}
