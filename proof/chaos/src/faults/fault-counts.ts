export type FaultCounts = {
  add(name: string, by?: number): void
  all(): Record<string, number>
}

export function createFaultCounts(): FaultCounts {
  const counts = new Map<string, number>()
  return {
    add: (name, by = 1) => counts.set(name, (counts.get(name) ?? 0) + by),
    all: () => Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b))),
  }
}
