/** An endpoint as one look finds it. */
type Look = {
  /** It takes attempts at its full pace, and its last ones were accepted. */
  readonly healthy: boolean
  /** The first of its new deliveries in due order; null for none that waits. */
  readonly first: { readonly dueAt: Date; readonly createdAt: Date } | null
  /** Of the attempts that it may have in flight, the share that is at its receiver now. */
  readonly busyShare: number
  readonly now: Date
}

/** Weight of the newest look in the mean share. Source: ours. */
const weight = 0.3
/**
 * From this share on the receiver is what holds its deliveries up: no faster worker would help. Source: ours.
 */
const busyMax = 0.9

/**
 * Judges, look by look, by how many milliseconds an endpoint's new deliveries are later than they have to be.
 * An endpoint that fails, is paused, hangs or has all its places taken by a slow receiver is late by itself
 * and counts for nothing; so does what a pause or a breaker has kept back. After such a time, and at the
 * first look, only what is added to the least lateness since counts, until it has caught up.
 */
export function createLateness(): (look: Look) => number {
  const extra = createExtraLateness()
  const isFull = createFullness()
  return function latenessOf({ healthy, first, busyShare, now }) {
    const full = isFull(busyShare)
    const lateMs = first === null ? 0 : now.getTime() - first.dueAt.getTime()
    if (lateMs <= 0) return extra.of(0)
    const wasMoved = first !== null && first.dueAt.getTime() !== first.createdAt.getTime()
    if (!healthy || wasMoved || full) extra.forgive()
    return extra.of(lateMs)
  }
}

/**
 * Judges, look by look, whether the receiver has nearly all attempts that it may have, so that only it is
 * slow.
 */
export function createFullness(): (busyShare: number) => boolean {
  let busy = 0
  return function isFull(busyShare) {
    busy += weight * (busyShare - busy)
    return busy > busyMax
  }
}

/** The lateness that is added to the least one since it was last forgiven; it begins forgiven. */
export function createExtraLateness(): { forgive(): void; of(lateMs: number): number } {
  let leastMs = Number.POSITIVE_INFINITY
  return {
    forgive() {
      leastMs = Number.POSITIVE_INFINITY
    },
    of(lateMs) {
      leastMs = Math.min(leastMs, lateMs)
      return lateMs - leastMs
    },
  }
}
