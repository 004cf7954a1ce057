import type { LedgerEntry } from '@pitboss/operator-kit/sandbox-wallet/ledger'
import type { Answers } from '@pitboss/chaos/answers'
import { codeOf } from '@pitboss/chaos/send'
import { settleCharges, usedOf } from '@pitboss/rounds/rules/limit-book'
import { BrokenInvariant } from './check-steps.ts'
import type { LimitedPlayer } from './limited-player.ts'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import { scope, type World } from './world.ts'

type Tables = Pick<World, 'limits' | 'rounds' | 'movements' | 'wallet' | 'timeline'>

/**
 * What the wallet has taken of the player stays within each limit of money, at every step.
 * @throws BrokenInvariant
 */
export function checkWithinLimits(tables: Tables, { playerId, limits }: LimitedPlayer): void {
  const { taken, lost } = movedBy(tables, playerId)
  for (const { kind, value } of limits) {
    if (kind === 'time') continue
    const used = kind === 'stake' ? taken : lost
    if (used > value)
      throw new BrokenInvariant('no stake beyond a limit is taken', `${kind} ${used} of ${value}`)
  }
}

/**
 * At the end: what counts towards a limit is what the wallet has taken, a stake that was sent once the time
 * was used up was never accepted, and nothing but a stake was refused for a limit.
 * @throws BrokenInvariant
 */
export function checkLimitsAtEnd(
  tables: Tables,
  answers: Answers,
  { playerId, limits, timeIsUpAtMs }: LimitedPlayer,
): void {
  const stored = tables.limits.table.get(playerId)
  if (stored === undefined) throw new BrokenInvariant('limits are kept', playerId)
  const now = tables.timeline.now()
  const charged = stored.book.charges.flatMap(({ roundId }) => tables.rounds.table.get(roundId)?.round ?? [])
  const book = settleCharges(stored.book, [...new Set(charged)], now)
  const { taken, lost } = movedBy(tables, playerId)
  for (const limit of limits) {
    if (limit.kind === 'time') continue
    const [used, moved] = [usedOf(book, limit, now), limit.kind === 'stake' ? taken : lost]
    if (used !== moved)
      throw new BrokenInvariant('what was taken counts', `${limit.kind}: ${used} counts, ${moved} moved`)
  }
  const first = new Map<string, number>()
  for (const { what, id, answer, sentAtMs } of answers.all()) {
    if (what === 'action' && codeOf(answer) === 'BET_LIMIT_EXCEEDED')
      throw new BrokenInvariant('a limit refuses stakes alone', `${what} ${id} is refused`)
    if (what !== 'stake' || id === null || !id.startsWith(`stake.${playerId}.`)) continue
    first.set(id, Math.min(first.get(id) ?? sentAtMs, sentAtMs))
  }
  for (const { what, id, answer } of answers.all()) {
    const sentAtMs = what === 'stake' && id !== null ? first.get(id) : undefined
    if (sentAtMs !== undefined && sentAtMs > timeIsUpAtMs && answer.status === 201)
      throw new BrokenInvariant('no stake is accepted once the time is used up', `${id}, sent at ${sentAtMs}`)
  }
}

/**
 * What the wallet has taken of the player: stakes that stand, without those that it gave back, or refused in
 * a word of its own and gives back, and those less what was won. Minor units.
 */
function movedBy({ movements, wallet: { ledger } }: Pick<World, 'movements' | 'wallet'>, playerId: string) {
  const isOnItsWayBack = (id: string) =>
    movements.table.get(movementIdOf(scope, id))?.reversal?.ofRefused === true
  const standing = ledger.entries.filter(
    ({ playerId: whose, transactionId: id }) =>
      whose === playerId && !ledger.rollbackOf.has(id) && !isOnItsWayBack(id),
  )
  const sum = (isMeant: (entry: LedgerEntry) => boolean) =>
    standing.filter(isMeant).reduce((total, { amountMinor }) => total + amountMinor, 0n)
  const stakes = sum(({ operation }) => operation === 'debit')
  const taken = stakes - sum(({ operation, type }) => operation === 'credit' && type === 'REFUND')
  return { taken, lost: taken - sum(({ operation, type }) => operation === 'credit' && type !== 'REFUND') }
}
