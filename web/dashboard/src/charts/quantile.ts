/**
 * The value below which a share of what was counted lies, in the unit of the bounds: the upper bound of the
 * bucket in which it falls. Null without counts; the last bound stands for what is above it.
 */
export function quantileOf(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [index, count] of counts.entries()) {
    below += count
    if (below >= share * total) return bounds[Math.min(index, bounds.length - 1)] ?? null
  }
  return null
}

/** Two histograms of the same bounds as one. */
export function addCounts(one: readonly number[], other: readonly number[]): number[] {
  return Array.from(
    { length: Math.max(one.length, other.length) },
    (_, at) => (one[at] ?? 0) + (other[at] ?? 0),
  )
}
