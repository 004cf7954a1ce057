import type { Random } from '@pitboss/chaos/random'
import type { PlayerLimit } from '@pitboss/rounds/rules/player-limits'

/** A player of two games at once, with limits. */
export type LimitedPlayer = {
  readonly playerId: string
  readonly limits: readonly PlayerLimit[]
  /** When the player's sessions began. */
  readonly since: Date
  readonly timeIsUpAtMs: number
}

const minuteMs = 60_000

/**
 * The limited player of a run; null in three of four runs. In some the time is used up in the middle: the
 * sessions began before the run. @param stormMs how long players play
 */
export function limitedPlayer(random: Random, nowMs: number, stormMs: number): LimitedPlayer | null {
  if (!random.chance(0.25)) return null
  const minutes = random.pick([1, 60])
  const sinceMs = minutes === 1 ? nowMs - minuteMs + Math.floor(stormMs / 2) : nowMs
  const money = (kind: 'loss' | 'stake', value: bigint): PlayerLimit => ({
    ...{ kind, period: 'day', currency: 'USD', value, next: null },
  })
  return {
    playerId: 'player-2',
    limits: [
      money('loss', random.pick([500n, 1200n])),
      money('stake', random.pick([1500n, 3000n])),
      { kind: 'time', period: 'week', currency: null, value: BigInt(minutes), next: null },
    ],
    since: new Date(sinceMs),
    timeIsUpAtMs: sinceMs + minutes * minuteMs,
  }
}
