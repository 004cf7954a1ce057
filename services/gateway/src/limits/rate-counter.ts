import { BoundedMap } from '@pitboss/runtime/bounded-map'

/** A rate per second with a burst on top. */
type BucketRule = { readonly kind: 'bucket'; readonly perSecond: number; readonly burst: number }
/** At most `count` requests in any span of `windowMs`. */
type WindowRule = { readonly kind: 'window'; readonly count: number; readonly windowMs: number }
export type RateRule = BucketRule | WindowRule

/** A limiter's verdict on one request. Seconds are whole, and at least 1 where the request is refused. */
export type Verdict = {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetS: number
  readonly retryAfterS: number
}

/** Counts requests by key, for a bounded number of keys. Never throws. */
export type RateCounter = {
  /** Counts one request when it may pass. */
  take(key: string, nowMs: number): Verdict
  /** The verdict of `take`, without counting. */
  peek(key: string, nowMs: number): Verdict
  /** Books requests that another gateway let through, as debt where there is no room. */
  charge(key: string, count: number, nowMs: number): void
}

const keysMax = 50_000
/** Bound of a bucket's debt, in bursts. */
const debtBurstsMax = 10
/** Bound of a window's memory, as a multiple of its limit. */
const rememberedMax = 4

/** Creates the counter of a rule. */
export function createRateCounter(rule: RateRule): RateCounter {
  return rule.kind === 'bucket' ? createBuckets(rule) : createWindows(rule)
}

function createBuckets({ perSecond, burst }: BucketRule): RateCounter {
  const buckets = new BoundedMap<string, { level: number; atMs: number }>(keysMax)
  const levelOf = (key: string, nowMs: number) => {
    const { level, atMs } = buckets.get(key) ?? { level: burst, atMs: nowMs }
    return Math.min(burst, level + (Math.max(0, nowMs - atMs) / 1000) * perSecond)
  }
  const verdict = (level: number, allowed: boolean): Verdict => ({
    allowed,
    limit: burst,
    remaining: Math.max(0, Math.floor(level)),
    resetS: Math.ceil((burst - level) / perSecond),
    retryAfterS: Math.max(1, Math.ceil((1 - level) / perSecond)),
  })
  return {
    take(key, nowMs) {
      const before = levelOf(key, nowMs)
      const level = before >= 1 ? before - 1 : before
      buckets.set(key, { level, atMs: nowMs })
      return verdict(level, before >= 1)
    },
    peek(key, nowMs) {
      const level = levelOf(key, nowMs)
      return verdict(level, level >= 1)
    },
    charge(key, count, nowMs) {
      const level = Math.max(levelOf(key, nowMs) - count, -debtBurstsMax * burst)
      buckets.set(key, { level, atMs: nowMs })
    },
  }
}

/** Exact, since the instant of each request that passed is remembered, oldest first. */
function createWindows({ count: countMax, windowMs }: WindowRule): RateCounter {
  const windows = new BoundedMap<string, number[]>(keysMax)
  const hitsOf = (key: string, nowMs: number) => {
    const hits = (windows.get(key) ?? []).filter((atMs) => atMs > nowMs - windowMs)
    windows.set(key, hits)
    return hits
  }
  const verdict = (hits: readonly number[], nowMs: number, allowed: boolean): Verdict => {
    const oldestMs = hits[Math.max(0, hits.length - countMax)] ?? nowMs
    const freeInS = Math.max(1, Math.ceil((oldestMs + windowMs - nowMs) / 1000))
    return {
      allowed,
      limit: countMax,
      remaining: Math.max(0, countMax - hits.length),
      resetS: hits.length === 0 ? 0 : freeInS,
      retryAfterS: freeInS,
    }
  }
  return {
    take(key, nowMs) {
      const hits = hitsOf(key, nowMs)
      const allowed = hits.length < countMax
      if (allowed) hits.push(nowMs)
      return verdict(hits, nowMs, allowed)
    },
    peek(key, nowMs) {
      const hits = hitsOf(key, nowMs)
      return verdict(hits, nowMs, hits.length < countMax)
    },
    charge(key, count, nowMs) {
      const hits = hitsOf(key, nowMs)
      const room = Math.max(0, countMax * rememberedMax - hits.length)
      hits.push(...Array.from({ length: Math.min(count, room) }, () => nowMs))
    },
  }
}
