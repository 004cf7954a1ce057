type Entrant = { alone: boolean; admit: (leave: () => void) => void }
type Gate = { inside: number; occupied: boolean; waiting: Entrant[] }

/**
 * One gate per collection. Writes share it; a write that lost a deadlock is tried again alone, so that it cannot lose
 * the same race for ever, and index builds are alone because the engine reports false duplicates beside writes.
 * First come, first served: a waiting loner holds up those behind it.
 */
export class CollectionGate {
  readonly #gates = new Map<string, Gate>()

  /** Resolves when the caller may go in; it must call the function it gets exactly once when it is done. */
  enter(namespace: string, alone: boolean): Promise<() => void> {
    const gate = this.#gates.get(namespace) ?? { inside: 0, occupied: false, waiting: [] }
    this.#gates.set(namespace, gate)
    return new Promise((admit) => {
      gate.waiting.push({ alone, admit })
      this.#admit(namespace, gate)
    })
  }

  /** Runs `work` inside the gate. */
  async inside<Result>(namespace: string, alone: boolean, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(namespace, alone)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  get size(): number {
    return this.#gates.size
  }

  #admit(namespace: string, gate: Gate): void {
    for (let next = gate.waiting[0]; next !== undefined; next = gate.waiting[0]) {
      if (gate.occupied || (next.alone && gate.inside > 0)) return
      gate.waiting.shift()
      const { alone } = next
      if (alone) gate.occupied = true
      else gate.inside++
      next.admit(() => {
        if (alone) gate.occupied = false
        else gate.inside--
        this.#admit(namespace, gate)
      })
    }
    if (gate.inside === 0 && !gate.occupied) this.#gates.delete(namespace)
  }
}
