export type FairPlaces = {
  /**
   * Takes a place for an account.
   * @param giveUp called when the place goes to an account that has none
   * @returns what leaves the place, once; null when there is none to have
   */
  take(account: string, giveUp: () => void): (() => void) | null
}

type Holder = { readonly account: string; readonly sinceMs: number; readonly giveUp: () => void }

/**
 * Places for long work that no few accounts can keep from the others. Further ones of an account are given
 * out only while half of all are free. When all are taken, an account without any gets the newest place of
 * one that has several, else the oldest that was held for `undisturbedMs`. Source: ours.
 */
export function createFairPlaces({
  allMax,
  perAccountMax,
  undisturbedMs,
  nowMs = () => performance.now(),
}: {
  allMax: number
  perAccountMax: number
  undisturbedMs: number
  nowMs?: () => number
}): FairPlaces {
  /** In the order in which they were taken. */
  const holders: Holder[] = []
  const countOf = (account: string) => holders.filter((holder) => holder.account === account).length
  const leave = (holder: Holder) => {
    const at = holders.indexOf(holder)
    if (at >= 0) holders.splice(at, 1)
  }

  function replaceable(): Holder | null {
    const several = holders.findLast(({ account }) => countOf(account) > 1)
    const longest = holders.find(({ sinceMs }) => nowMs() - sinceMs >= undisturbedMs)
    return several ?? longest ?? null
  }

  return {
    take(account, giveUp) {
      const own = countOf(account)
      if (own >= perAccountMax || (own > 0 && holders.length >= allMax / 2)) return null
      if (holders.length >= allMax) {
        const ended = replaceable()
        if (ended === null) return null
        leave(ended)
        ended.giveUp()
      }
      const holder = { account, sinceMs: nowMs(), giveUp }
      holders.push(holder)
      return () => leave(holder)
    },
  }
}
