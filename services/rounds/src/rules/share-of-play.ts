/** When new play yields to deliveries that are late. Source: docs/contract.md, section 7. */
export type YieldRule = {
  /** Milliseconds of lateness beyond which a share of new play is refused. */
  readonly fromMs: number
  /** From here on all of it is. */
  readonly allMs: number
}

export const usualYield: YieldRule = { fromMs: 10_000, allMs: 30_000 }

/** The share of new play that is taken, falling evenly between the bounds. @returns 0 to 1 */
export function shareOfPlay(lateMs: number, { fromMs, allMs }: YieldRule): number {
  if (lateMs >= allMs) return 0
  return Math.min(1, (allMs - lateMs) / (allMs - fromMs))
}
