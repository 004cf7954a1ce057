/** Places that clients take for as long as something of theirs is under way, bounded per client. Ours. */

export type Places = {
  /** Takes a place of `key` until the returned function is called; null when all of them are taken. */
  take(key: string): (() => void) | null
}

/** Creates places: `perKeyMax` for each key. */
export function createPlaces(perKeyMax: number): Places {
  const taken = new Map<string, number>()
  return {
    take(key) {
      const before = taken.get(key) ?? 0
      if (before >= perKeyMax) return null
      taken.set(key, before + 1)
      return once(() => {
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      })
    },
  }
}

/** Wraps a function so that further calls do nothing. */
export function once(fn: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    fn()
  }
}
