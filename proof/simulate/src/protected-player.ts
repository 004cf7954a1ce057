import type { Random } from '@pitboss/chaos/random'

/** A player of two games at once, whom stops or the rules of a jurisdiction protect. */
export type ProtectedPlayer = {
  readonly playerId: string
  /** Players whom the operator stops at times: this one, one of rounds that the operator drives, or both. */
  readonly stopped: readonly string[]
  /** Whether the sessions are under the rules of `UK`: pace, reality check, cap on a stake. */
  readonly underRules: boolean
  /** When the sessions began: under rules their reality check is due in the middle of the run. */
  readonly since: Date
}

export const realityCheckS = 60
const playerId = 'player-0'
const driven = 'driver-1'

/** The protected player of a run; null in two of three runs. @param stormMs how long players play */
export function protectedPlayer(random: Random, nowMs: number, stormMs: number): ProtectedPlayer | null {
  if (!random.chance(0.33)) return null
  const stopped = random.pick([[], [playerId], [playerId], [playerId, driven]])
  const underRules = stopped.length === 0 || random.chance(0.3)
  const aheadMs = underRules ? realityCheckS * 1000 - random.between(1, stormMs) : 0
  return { playerId, stopped, underRules, since: new Date(nowMs - aheadMs) }
}
