import type { Random } from '@pitboss/chaos/random'
import type { PlayerLimit } from '@pitboss/rounds/wings/protection/rules/player-limits'

/** A player of two games at once, and of a third that the operator's server drives, with limits. */
export type LimitedPlayer = {
  readonly playerId: string
  readonly limits: readonly PlayerLimit[]
  /** When the player's sessions began. */
  readonly since: Date
}

export const limitedCurrency = 'USD'
const minuteMs = 60_000

/**
 * The limited player of a run; null in three of four runs that cross no midnight, and in half of those that
 * do. In some the time is used up in the middle: the sessions began before the run.
 * @param stormMs how long players play
 */
export function limitedPlayer(
  random: Random,
  nowMs: number,
  { stormMs, turns }: { stormMs: number; turns: boolean },
): LimitedPlayer | null {
  if (!random.chance(turns ? 0.5 : 0.25)) return null
  const minutes = random.pick([1, 60])
  const sinceMs = minutes === 1 ? nowMs - minuteMs + Math.floor(stormMs / 2) : nowMs
  const { pick } = random.fork('periods')
  const money = (kind: 'loss' | 'stake', value: bigint): PlayerLimit => ({
    ...{ kind, period: pick(['day', 'day', 'week', 'month']), currency: limitedCurrency, value, next: null },
  })
  return {
    playerId: 'player-2',
    limits: [
      money('loss', random.pick([500n, 1200n])),
      money('stake', random.pick([1500n, 3000n])),
      { kind: 'time', period: pick(['week', 'day']), currency: null, value: BigInt(minutes), next: null },
    ],
    since: new Date(sinceMs),
  }
}
