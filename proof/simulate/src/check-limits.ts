import type { LedgerEntry } from '@pitboss/operator-kit/sandbox-wallet/ledger'
import type { Answers, Told } from '@pitboss/chaos/answers'
import { codeOf } from '@pitboss/chaos/send'
import { parseAmount } from '@pitboss/money/amount'
import { settleCharges, usedOf, type PlayerLimit } from '@pitboss/rounds/wings/protection/rules/player-limits'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import { midnightsIn, periodOf } from './calendar.ts'
import { BrokenInvariant } from './check-steps.ts'
import { type LimitedPlayer, limitedCurrency } from './limited-player.ts'
import { createNotedStakes, type NotedStake } from './note-stakes.ts'
import { scope, type World } from './world.ts'

type Tables = Pick<World, 'limits' | 'rounds' | 'movements' | 'wallet' | 'timeline' | 'sessions' | 'faults'>

const minuteMs = 60_000
const limitPath = /^limits\.(\w+)\.(\w+)$/

/**
 * The limits of one player, by what the wallet moved, whoever drove the rounds, and by what the clients were
 * answered. A stake counts in the period in which it was asked for: between the storing of its intent and its
 * first being counted.
 * @throws BrokenInvariant
 */
export function createLimitChecks(
  world: () => Tables,
  { playerId, limits, since }: LimitedPlayer,
  nowMs: () => number,
) {
  const stakes = createNotedStakes(playerId, nowMs)
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }
  const money = limits.filter(({ kind }) => kind !== 'time')

  const { roundWritten, bookKept, bookRestored } = stakes
  return { roundWritten, bookKept, bookRestored, walletMoved, atEnd }

  /** What the wallet has taken stays within each limit of money in each of its periods, at every step. */
  function walletMoved(): void {
    const moved = createMoved(world(), playerId)
    for (const limit of money) {
      for (const period of periodsOf(limit)) {
        const { least } = usedIn(limit, period, moved)
        holds(
          'no stake beyond a limit is taken',
          least <= limit.value,
          () => `${limit.kind} ${least} of ${limit.value} in ${limit.period} ${period}`,
        )
      }
    }
  }

  /**
   * What counts towards a limit is what the wallet has taken in its period; a stake that was sent once the
   * time was used up was never accepted; nothing but a stake was refused for a limit, and none that it
   * allows.
   */
  function atEnd(answers: Answers): void {
    checkCounted()
    const first = new Map<string, number>()
    const isOwnStake = ({ what, id, asked }: Told) =>
      (what === 'stake' && id?.startsWith(`${playerId}/`) === true) ||
      (what === 'movement' && asked.type === 'BET' && id?.includes(`.${playerId}.`) === true)
    for (const told of answers.all()) {
      const { what, id, asked, answer, sentAtMs } = told
      const isStake = what === 'stake' || (what === 'movement' && asked.type === 'BET')
      holds(
        'a limit refuses stakes alone',
        isStake || codeOf(answer) !== 'BET_LIMIT_EXCEEDED',
        () => `${what} ${id} is refused`,
      )
      if (id !== null && isOwnStake(told)) first.set(id, Math.min(first.get(id) ?? sentAtMs, sentAtMs))
    }
    for (const told of answers.all()) {
      const { id, answer, sentAtMs, answeredAtMs } = told
      if (id === null ? told.what !== 'stake' : !isOwnStake(told)) continue
      const sent = first.get(id ?? '') ?? sentAtMs
      const begins = [sent, ...midnightsIn(sent, answeredAtMs)]
      const hasTime = begins.some((atMs) => timeLeftMs(atMs) > 0)
      holds(
        'no stake is accepted once the time is used up',
        hasTime || answer.status !== 201 || id === null,
        () => `${id}, sent at ${sent}`,
      )
      checkRefused(told, sent)
    }
  }

  function checkCounted(): void {
    const { limits: kept, rounds, timeline } = world()
    const stored = kept.table.get(playerId)
    if (stored === undefined) throw new BrokenInvariant('limits are kept', playerId)
    const now = timeline.now()
    const charged = stored.book.charges.flatMap(({ roundId }) => rounds.table.get(roundId)?.round ?? [])
    const book = settleCharges(stored.book, [...new Set(charged)], now)
    const moved = createMoved(world(), playerId)
    for (const limit of money) {
      for (const [period, atMs] of instantsOf(limit)) {
        const used = usedOf(book, limit, new Date(atMs))
        const { least, most } = usedIn(limit, period, moved)
        holds(
          'what was taken counts',
          used >= least && used <= most,
          () => `${limit.kind} of ${limit.period} ${period}: ${used} counts, ${least} to ${most} moved`,
        )
      }
    }
  }

  /** A stake was refused for a limit that it could have exceeded, counted high. */
  function checkRefused({ what, id, asked, answer, answeredAtMs }: Told, sentAtMs: number): void {
    const limit = limitOf(answer.body.details)
    if (codeOf(answer) !== 'BET_LIMIT_EXCEEDED' || limit === undefined) return
    const show = () => `${what} ${id}, sent at ${sentAtMs}, for ${limit.kind} of a ${limit.period}`
    const named = 'a limit refuses no stake that it allows'
    if (limit.kind === 'time') {
      const ends = [answeredAtMs, ...midnightsIn(sentAtMs, answeredAtMs).map((atMs) => atMs - 1)]
      const left = Math.min(...ends.map(timeLeftMs))
      return holds(named, left <= 0, () => `${show()}, ${left} ms left`)
    }
    const minor = parseAmount(String(asked.stake ?? asked.amount), limitedCurrency)
    const instants = [sentAtMs, ...midnightsIn(sentAtMs, answeredAtMs)]
    const others = stakes
      .all()
      .filter((one) => id === null || (one.transactionId !== id && one.requestedAs !== id))
    const most = instants.map((atMs) => {
      const period = periodOf(limit.period, atMs)
      const before = others.filter((one) => one.intendedAtMs <= answeredAtMs && mayBeIn(one, limit, period))
      return before.reduce((sum, one) => sum + one.minor, 0n)
    })
    holds(
      named,
      most.some((used) => used + minor > limit.value),
      () => `${show()}: ${minor} beside at most ${most.join(' or ')} of ${limit.value}`,
    )
  }

  function limitOf(details: unknown): PlayerLimit | undefined {
    const paths = Array.isArray(details) ? details.map((one: { path?: unknown }) => String(one.path)) : []
    const [, kind, period] = paths.flatMap((path) => limitPath.exec(path) ?? [])
    return limits.find((one) => one.kind === kind && one.period === period)
  }

  /** Time left of the least limit of time. */
  function timeLeftMs(atMs: number): number {
    const left = limits
      .filter(({ kind }) => kind === 'time')
      .map(({ period, value }) => {
        const midnights = midnightsIn(since.getTime(), atMs)
        const begins = midnights.filter((one) => periodOf(period, one) !== periodOf(period, one - 1))
        return Number(value) * minuteMs - (atMs - Math.max(since.getTime(), ...begins))
      })
    return Math.min(...left)
  }

  function periodsOf(limit: PlayerLimit): Set<string> {
    return new Set(instantsOf(limit).keys())
  }

  /** An instant in each period in which a stake may count. */
  function instantsOf({ period }: PlayerLimit): Map<string, number> {
    const instants = stakes.all().flatMap((one) => [one.intendedAtMs, one.countedAtMs ?? one.intendedAtMs])
    return new Map(instants.map((atMs) => [periodOf(period, atMs), atMs]))
  }

  /** What counts in a period: at least, and at most, where a stake or a win may belong to it or not. */
  function usedIn(limit: PlayerLimit, period: string, moved: Moved): { least: bigint; most: bigint } {
    const isLoss = limit.kind === 'loss'
    let [least, most] = [0n, 0n]
    const seen = new Set<string>()
    for (const stake of stakes.all()) {
      const mayBe = mayBeIn(stake, limit, period)
      const taken = moved.taken(stake)
      if (mayBe) most += taken
      if (mayBe && !mayBeOutside(stake, limit, period)) least += taken
      if (!isLoss || !mayBe || seen.has(stake.roundId)) continue
      seen.add(stake.roundId)
      const own = stakes.all().filter(({ roundId }) => roundId === stake.roundId)
      const isWhole = own.every((one) => mayBeIn(one, limit, period) && !mayBeOutside(one, limit, period))
      const won = moved.won(stake.roundId)
      least -= won.most
      if (isWhole) most -= won.least
    }
    return { least, most }
  }
}

function mayBeIn(
  { intendedAtMs, countedAtMs }: NotedStake,
  { period }: Pick<PlayerLimit, 'period'>,
  key: string,
): boolean {
  return [intendedAtMs, countedAtMs ?? intendedAtMs].some((atMs) => periodOf(period, atMs) === key)
}

/** Whether it may count elsewhere, or nowhere, since its book was set back. */
function mayBeOutside(
  { intendedAtMs, countedAtMs, isForgotten }: NotedStake,
  { period }: Pick<PlayerLimit, 'period'>,
  key: string,
): boolean {
  if (isForgotten) return true
  return [intendedAtMs, countedAtMs ?? intendedAtMs].some((atMs) => periodOf(period, atMs) !== key)
}

type Moved = {
  /** What the wallet has taken of a stake and not given back, or does not owe to. */
  taken(stake: NotedStake): bigint
  /** What a round has paid, a win that was rolled back after its end included; one that was before may be. */
  won(roundId: string): { least: bigint; most: bigint }
}

/** What the wallet has moved of a player, in minor units. */
function createMoved({ movements, rounds, wallet, faults }: Tables, playerId: string): Moved {
  const { ledger } = wallet
  const own = ledger.entries.filter((entry) => entry.playerId === playerId)
  const movementOf = (id: string) => movements.table.get(movementIdOf(scope, id))
  const isOnItsWayBack = (id: string) => movementOf(id)?.reversal?.ofRefused === true
  const refunded = new Set(
    own.flatMap(({ operation, type, transactionId: id }) =>
      operation === 'credit' && type === 'REFUND' ? [movementOf(id)?.referenceTransactionId ?? ''] : [],
    ),
  )
  const debits = new Map(
    own.flatMap((entry): [string, LedgerEntry][] =>
      entry.operation === 'debit' ? [[entry.transactionId, entry]] : [],
    ),
  )
  const credits = own.filter(({ operation, type }) => operation === 'credit' && type !== 'REFUND')
  const byRound = Map.groupBy(credits, ({ transactionId }) => movementOf(transactionId)?.roundId ?? '')
  return {
    taken({ transactionId: id, roundId }) {
      // An intent that was taken back leaves its id to another round.
      const entry = movementOf(id)?.roundId === roundId ? debits.get(id) : undefined
      const isBack = ledger.rollbackOf.has(id) || refunded.has(id) || isOnItsWayBack(id)
      return entry === undefined || entry.tombstone || isBack ? 0n : entry.amountMinor
    },
    won(roundId) {
      const endedAtMs = rounds.table.get(roundId)?.round.completedAt?.getTime() ?? Infinity
      let [least, most] = [0n, 0n]
      for (const { transactionId: id, amountMinor } of byRound.get(roundId) ?? []) {
        const isBack = ledger.rollbackOf.has(id)
        const askedAtMs = movementOf(id)?.reversal?.askedAt.getTime() ?? 0
        const mayCount = !isBack || askedAtMs >= endedAtMs - 2 * faults.clockOffMs
        if (!isBack) least += amountMinor
        if (mayCount) most += amountMinor
      }
      return { least, most }
    },
  }
}
