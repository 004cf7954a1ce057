type Entrant = { alone: boolean; admit: () => void }
type Gate = { inside: number; occupied: boolean; waiting: Entrant[] }

/**
 * One gate per collection. Writes share it; a write that lost a deadlock is tried again alone, so that it
 * cannot lose the same race for ever, and index builds are alone because the engine reports false duplicates
 * beside writes. First come, first served: a waiting loner holds up those behind it.
 */
export class CollectionGate {
  readonly #gates = new Map<string, Gate>()

  /** Runs `work` inside the gate, at once if nothing forbids it. */
  async inside<Result>(namespace: string, alone: boolean, work: () => Promise<Result>): Promise<Result> {
    const gate = this.#gateOf(namespace)
    if (!mayEnter(gate, alone)) await waitAt(gate, alone)
    else goIn(gate, alone)
    try {
      return await work()
    } finally {
      this.#leave(namespace, gate, alone)
    }
  }

  get size(): number {
    return this.#gates.size
  }

  #gateOf(namespace: string): Gate {
    const known = this.#gates.get(namespace)
    if (known !== undefined) return known
    const gate = { inside: 0, occupied: false, waiting: [] }
    this.#gates.set(namespace, gate)
    return gate
  }

  #leave(namespace: string, gate: Gate, alone: boolean): void {
    if (alone) gate.occupied = false
    else gate.inside--
    for (let next = gate.waiting[0]; next !== undefined && isFree(gate, next.alone); next = gate.waiting[0]) {
      gate.waiting.shift()
      goIn(gate, next.alone)
      next.admit()
    }
    if (gate.inside === 0 && !gate.occupied) this.#gates.delete(namespace)
  }
}

function isFree(gate: Gate, alone: boolean): boolean {
  return !gate.occupied && (!alone || gate.inside === 0)
}

function mayEnter(gate: Gate, alone: boolean): boolean {
  return gate.waiting.length === 0 && isFree(gate, alone)
}

function goIn(gate: Gate, alone: boolean): void {
  if (alone) gate.occupied = true
  else gate.inside++
}

function waitAt(gate: Gate, alone: boolean): Promise<void> {
  return new Promise((admit) => gate.waiting.push({ alone, admit }))
}
