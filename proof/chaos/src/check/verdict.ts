export type Invariant = { name: string; checked: number; violations: string[] }

export type Verdict = {
  /** Counts one look at an invariant and notes what breaks it. */
  check(name: string, holds: boolean, broken: () => string): void
  invariants(): Invariant[]
  violations(): number
}

/** Collects every look at every invariant by its name. */
export function createVerdict(): Verdict {
  const found = new Map<string, Invariant>()
  return {
    check(name, holds, broken) {
      const invariant = found.get(name) ?? { name, checked: 0, violations: [] }
      found.set(name, invariant)
      invariant.checked++
      if (!holds) invariant.violations.push(broken())
    },
    invariants: () => [...found.values()],
    violations: () => [...found.values()].reduce((sum, { violations }) => sum + violations.length, 0),
  }
}
