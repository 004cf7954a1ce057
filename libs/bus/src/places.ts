/** Calls at work in one process, by account; null for a call that belongs to none. */
export type Places = {
  /** Begins `start` at once, in turn, or not at all. `start` never rejects. */
  offer(work: { account: string | null; neverShed: boolean; start: () => Promise<void> }): 'taken' | 'refused'
  /** Calls at work and waiting. */
  readonly size: number
  /** Resolves when nothing is at work or waits any more. */
  ended(): Promise<void>
}

/** Calls that wait for their turn: a bound for the memory's sake, far above real load. */
const waitingMax = 10_000

type Waiting = { readonly account: string | null; readonly start: () => Promise<void> }

/**
 * Shares places between accounts. An account may hold as many as are free: alone it holds at most half, two
 * at most a third each, and so on, so that calls which hang never fill the places of those who have few.
 * Calls that are never shed have places of their own; beyond their account's share they wait for their turn.
 * @param shedMax places for calls that may be shed
 * @param keptMax places for those that may not
 */
export function createPlaces({ shedMax, keptMax }: { shedMax: number; keptMax: number }): Places {
  const shed = createPool(shedMax)
  const kept = createPool(keptMax)
  const running = new Set<Promise<void>>()
  /** Accounts in the order of their turns, each with what waits. */
  const waiting = new Map<string | null, Waiting[]>()
  let waitingCount = 0

  function begin(pool: Pool, { account, start }: Waiting): void {
    pool.take(account)
    const work = start().finally(() => {
      running.delete(work)
      pool.release(account)
      if (pool === kept) beginWaiting()
    })
    running.add(work)
  }

  /** Gives free places to accounts in turn, one call each. */
  function beginWaiting(): void {
    for (let begun = true; begun && waitingCount > 0; ) {
      begun = false
      for (const [account, queue] of [...waiting]) {
        if (!kept.hasRoom(account)) continue
        const next = queue.shift()
        waiting.delete(account)
        if (queue.length > 0) waiting.set(account, queue)
        if (next === undefined) continue
        waitingCount -= 1
        begun = true
        begin(kept, next)
      }
    }
  }

  return {
    offer({ account, neverShed, start }) {
      const pool = neverShed ? kept : shed
      const queue = waiting.get(account)
      if (pool.hasRoom(account) && !(neverShed && queue !== undefined)) begin(pool, { account, start })
      else if (!neverShed || waitingCount >= waitingMax) return 'refused'
      else {
        if (queue === undefined) waiting.set(account, [{ account, start }])
        else queue.push({ account, start })
        waitingCount += 1
      }
      return 'taken'
    },
    get size() {
      return running.size + waitingCount
    },
    async ended() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

type Pool = ReturnType<typeof createPool>

function createPool(max: number) {
  const held = new Map<string, number>()
  let total = 0
  return {
    hasRoom(account: string | null): boolean {
      const own = account === null ? 0 : (held.get(account) ?? 0)
      return own < max - total
    },
    take(account: string | null): void {
      total += 1
      if (account !== null) held.set(account, (held.get(account) ?? 0) + 1)
    },
    release(account: string | null): void {
      total -= 1
      if (account === null) return
      const left = (held.get(account) ?? 0) - 1
      if (left > 0) held.set(account, left)
      else held.delete(account)
    },
  }
}
