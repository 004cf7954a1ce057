/**
 * Runs `work` in one of the `max` places of its key; null when all are taken. `taken` counts them by key and
 * is empty when nothing runs. Source: ours.
 */
export function withinPlaces<Result>(
  taken: Map<string, number>,
  key: string,
  max: number,
  work: () => Promise<Result>,
): Promise<Result> | null {
  const before = taken.get(key) ?? 0
  if (before >= max) return null
  taken.set(key, before + 1)
  return work().finally(() => {
    const left = (taken.get(key) ?? 1) - 1
    if (left === 0) taken.delete(key)
    else taken.set(key, left)
  })
}
