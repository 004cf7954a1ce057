import type { ReportRow } from '@pitboss/rounds/wings/reports/rules/report'
import { isUnfinished, type RoundState } from '@pitboss/rounds/rules/round'
import { periodOf } from './calendar.ts'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

type Tables = Pick<World, 'rounds' | 'sessions' | 'wallet' | 'faults'>
type Sums = { rounds: number; stakes: bigint; payouts: bigint; refunds: bigint; adjustments: bigint }
/** What a round stood at when it ended, or what changed since, and between which instants that was. */
type Change = {
  readonly round: RoundState
  readonly fromMs: number
  readonly toMs: number
  readonly sums: Sums
}

const none: Sums = { rounds: 0, stakes: 0n, payouts: 0n, refunds: 0n, adjustments: 0n }

/**
 * The report of each day, game and brand: a round counts on the day of its end, as it stood then; a later
 * change on its own day; and all days together say what the wallet has moved. An end and a change lie between
 * the write of a round before and their own.
 * @throws BrokenInvariant
 */
export function createReportChecks(world: () => Tables, nowMs: () => number) {
  const writtenAtMs = new Map<string, number>()
  const changes: Change[] = []
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }

  return {
    roundWritten(before: RoundState | null, after: RoundState): void {
      const [fromMs, toMs] = [writtenAtMs.get(after.id) ?? nowMs(), nowMs()]
      writtenAtMs.set(after.id, toMs)
      if (before === null || isUnfinished(after)) return
      const slackMs = world().faults.clockOffMs
      if (isUnfinished(before)) {
        const endedAtMs = after.completedAt?.getTime() ?? 0
        const isNow = endedAtMs >= fromMs - slackMs && endedAtMs <= toMs + slackMs
        const show = () => `${after.id} at ${after.completedAt?.toISOString()}, written ${fromMs} to ${toMs}`
        holds('a round ends when its end is written', isNow, show)
        const at = { fromMs: endedAtMs, toMs: endedAtMs }
        if (after.started) changes.push({ round: after, ...at, sums: { ...sumsOf(after), rounds: 1 } })
        return
      }
      const [was, is] = [revenueOf(sumsOf(before)), revenueOf(sumsOf(after))]
      const span = { fromMs: fromMs - slackMs, toMs: toMs + slackMs }
      if (was !== is) changes.push({ round: after, ...span, sums: { ...none, adjustments: is - was } })
    },

    atEnd(rows: readonly ReportRow[]): void {
      const expected = new Map<string, Sums>()
      const unsure = new Set<string>()
      for (const { round, fromMs, toMs, sums } of changes) {
        const keys = [fromMs, toMs].map((atMs) => `${periodOf('day', atMs)} ${placeOf(round)}`)
        const key = keys[0] ?? ''
        expected.set(key, add(expected.get(key) ?? none, sums))
        if (keys[1] !== key) for (const one of keys) unsure.add(one)
      }
      for (const [key, sums] of expected) {
        const row = rows.find((one) => `${one.day} ${one.game} ${one.currency} ${one.brandId}` === key)
        const isRight = row !== undefined && isSame(row, sums, unsure.has(key))
        holds('a report says of each day what ended and changed on it', isRight || unsure.has(key), () =>
          [key, show(sums), row === undefined ? 'no row' : show(row)].join('; '),
        )
      }
      const [asked, given] = [
        [...expected.values()].reduce((sum, { rounds }) => sum + rounds, 0),
        rows.reduce((sum, { rounds }) => sum + rounds, 0),
      ]
      holds('a report counts each round once', asked === given, () => `${given} of ${asked}`)
      checkMoved(rows)
    },
  }

  /** Of each game, currency and brand: the revenue of all days is what the players' balances lack. */
  function checkMoved(rows: readonly ReportRow[]): void {
    const byWallet = new Map<string, bigint>()
    const rounds = [...world().rounds.table.values()].map(({ round }) => round)
    const places = new Map(rounds.map((round) => [round.walletRoundId, placeOf(round)]))
    for (const { roundId, effectMinor } of world().wallet.ledger.entries) {
      const place = places.get(roundId)
      if (place !== undefined) byWallet.set(place, (byWallet.get(place) ?? 0n) - effectMinor)
    }
    for (const [place, moved] of byWallet) {
      const own = rows.filter((one) => `${one.game} ${one.currency} ${one.brandId}` === place)
      const reported = own.reduce((sum, row) => sum + revenueOf(row) + row.adjustments, 0n)
      const text = () => `${place}: ${reported} reported, ${moved} moved`
      holds('reports say what the wallet has moved', reported === moved, text)
    }
  }

  /** The brand is that of the session. */
  function placeOf({ game, currency, sessionId }: RoundState): string {
    return `${game} ${currency} ${world().sessions.table.get(sessionId)?.brandId ?? null}`
  }
}

/** What a round has taken, given back and paid, in minor units. */
function sumsOf({ stakes, wins }: RoundState): Sums {
  const taken = stakes.filter(({ wasTaken }) => wasTaken)
  return {
    ...none,
    stakes: total(taken),
    refunds: total(taken.filter(({ state }) => state === 'RETURNED')),
    payouts: total(wins.filter(({ state }) => state !== 'REVERSED')),
  }
}

function total(parts: readonly { readonly minor: bigint }[]): bigint {
  return parts.reduce((sum, { minor }) => sum + minor, 0n)
}

function revenueOf({ stakes, payouts, refunds }: Pick<Sums, 'stakes' | 'payouts' | 'refunds'>): bigint {
  return stakes - payouts - refunds
}

function add(a: Sums, b: Sums): Sums {
  return {
    rounds: a.rounds + b.rounds,
    stakes: a.stakes + b.stakes,
    payouts: a.payouts + b.payouts,
    refunds: a.refunds + b.refunds,
    adjustments: a.adjustments + b.adjustments,
  }
}

function isSame(a: Sums, b: Sums, isUnsure: boolean): boolean {
  const same = a.rounds === b.rounds && a.stakes === b.stakes && a.payouts === b.payouts
  return same && a.refunds === b.refunds && (isUnsure || a.adjustments === b.adjustments)
}

function show({ rounds, stakes, payouts, refunds, adjustments }: Sums): string {
  return `${rounds} rounds, ${stakes} staked, ${payouts} paid, ${refunds} refunded, ${adjustments} adjusted`
}
