/** From this lateness on new play yields, and from `none` on there is none. Source: ours. */
const late = { some: 1000, none: 2000 } as const

/**
 * The share of new rounds and stakes that is taken while deliveries are late: all up to one second, none from
 * two on, and evenly less in between, so that play finds the pace that deliveries keep up with.
 * @param lateMs at least 0
 * @returns 0 to 1
 */
export function shareOfPlay(lateMs: number): number {
  return Math.min(1, Math.max(0, (late.none - lateMs) / (late.none - late.some)))
}
