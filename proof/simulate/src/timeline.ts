type Entry = { readonly atMs: number; readonly order: number; readonly run: () => void }

/** Virtual time: an agenda of future steps. Nothing here looks at the machine's clock. */
export type Timeline = {
  nowMs(): number
  now(): Date
  after(ms: number, run: () => void): void
  wait(ms: number): Promise<void>
  /** Lets time pass in which nothing happens: everything on the agenda is so much later. */
  skip(ms: number): void
  /**
   * Goes to the next instant and lets everything that follows from it at once happen. False when nothing is
   * left.
   */
  step(): Promise<boolean>
}

export function createTimeline(startMs = Date.UTC(2026, 0, 1)): Timeline {
  const heap: Entry[] = []
  let nowMs = startMs
  let order = 0

  const after = (ms: number, run: () => void) => {
    order += 1
    push(heap, { atMs: nowMs + Math.max(0, ms), order, run })
  }
  return {
    nowMs: () => nowMs,
    now: () => new Date(nowMs),
    after,
    wait: (ms) => new Promise((resolve) => after(ms, resolve)),
    skip(ms) {
      nowMs += ms
      for (const [index, entry] of heap.entries()) heap[index] = { ...entry, atMs: entry.atMs + ms }
    },
    async step() {
      const next = pop(heap)
      if (next === undefined) return false
      nowMs = next.atMs
      next.run()
      await settled()
      return true
    },
  }
}

/**
 * Resolves when every promise that can go on has gone on: the simulated processes wait for nothing but the
 * timeline.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const parentAt = (at - 1) >> 1
    const parent = heap[parentAt]
    if (parent === undefined || isBefore(parent, entry)) break
    heap[at] = parent
    at = parentAt
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let childAt = at * 2 + 1
    const left = heap[childAt]
    const right = heap[childAt + 1]
    if (left === undefined) break
    if (right !== undefined && isBefore(right, left)) childAt += 1
    const child = right !== undefined && isBefore(right, left) ? right : left
    if (!isBefore(child, last)) break
    heap[at] = child
    at = childAt
  }
  heap[at] = last
  return first
}
