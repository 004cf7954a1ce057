export type Exploration = {
  readonly states: number
  readonly depth: number
  /** The shortest trace to a state that breaks an invariant. */
  readonly violation: { readonly invariant: string; readonly trace: readonly string[] } | null
}

type Step = { readonly from: string | null; readonly move: string }

/**
 * A breadth-first search over every state that moves lead to, so that the first violation has the shortest
 * trace. States with the same key are one. It ends when there is nothing new, or with the layer in which it
 * has seen `statesMax` states.
 */
export function exploreStates<State>({
  start,
  keyOf,
  movesOf,
  broken,
  statesMax,
}: {
  /** Its name begins every trace. */
  start: { readonly name: string; readonly state: State }
  keyOf: (state: State) => string
  movesOf: (state: State) => readonly { readonly name: string; readonly state: State }[]
  /** The invariant that a state breaks; null for none. */
  broken: (state: State) => string | null
  statesMax: number
}): Exploration {
  // Keys are made once for each state: making them costs as much as all else.
  const first = { key: keyOf(start.state), state: start.state }
  const steps = new Map<string, Step>([[first.key, { from: null, move: start.name }]])
  let layer = [first]
  let depth = 0
  while (layer.length > 0 && steps.size < statesMax) {
    const next: typeof layer = []
    for (const { key, state } of layer) {
      const invariant = broken(state)
      if (invariant !== null) {
        return { states: steps.size, depth, violation: { invariant, trace: traceOf(key, steps) } }
      }
      for (const { name, state: reached } of movesOf(state)) {
        const reachedKey = keyOf(reached)
        if (steps.has(reachedKey)) continue
        steps.set(reachedKey, { from: key, move: name })
        next.push({ key: reachedKey, state: reached })
      }
    }
    layer = next
    depth += 1
  }
  return { states: steps.size, depth, violation: null }
}

function traceOf(key: string, steps: ReadonlyMap<string, Step>): string[] {
  const trace: string[] = []
  let at: string | null = key
  while (at !== null) {
    const step: Step | undefined = steps.get(at)
    if (step === undefined) break
    trace.unshift(step.move)
    at = step.from
  }
  return trace
}
