/**
 * From this lateness on new play yields, and from `none` on there is none. What is under way then makes
 * deliveries later still, by less than half a second as measured (docs/benchmarks.md): so they stay within
 * two. Source: ours.
 */
const late = { some: 1000, none: 1500 } as const

/**
 * The share of new rounds and stakes that is taken while deliveries are late: all up to one second, none from
 * one and a half on, and evenly less in between, so that play finds the pace that deliveries keep up with.
 * @param lateMs at least 0
 * @returns 0 to 1
 */
export function shareOfPlay(lateMs: number): number {
  return Math.min(1, Math.max(0, (late.none - lateMs) / (late.none - late.some)))
}
