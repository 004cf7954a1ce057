import { z } from 'zod'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { chargeWindow, newWindow, peekWindow, takeFromWindow } from './sliding-window.ts'
import type { WindowRule, WindowState } from './sliding-window.ts'
import { type BucketRule, type BucketState, chargeBucket, newBucket, takeFromBucket } from './token-bucket.ts'
import type { Verdict } from './token-bucket.ts'

/** The counters of docs/contract.md, section 8. `mintPair` is one key from one address. */
const limiterNames = [
  'operator',
  'launcher',
  'dashboard',
  'mintAddress',
  'mintKey',
  'mintPair',
  'loginAddress',
  'loginEmail',
] as const
type LimiterName = (typeof limiterNames)[number]
export type LimiterRules = Readonly<Record<LimiterName, BucketRule | WindowRule>>

/** Longest time between a request that passes and the message to the other gateways, in milliseconds. */
const exchangeMs = 10
const keysMax = 50_000
const pairsPerMessageMax = 500
/** Keeps a full message far below the limit of NATS; names that clients choose come in as hashes. */
const keyCharactersMax = 128

export const limitsSubject = 'gw.limits.v1'

const messageSchema = z.strictObject({
  from: z.string().max(64),
  let: z
    .array(z.tuple([z.enum(limiterNames), z.string().max(keyCharactersMax), z.int().min(1)]))
    .max(pairsPerMessageMax),
})

export type Limiters = {
  /** Counts one request when it may pass. Never throws. */
  take(name: LimiterName, key: string): Verdict
  /** The verdict of a window limiter, without counting. */
  peek(name: LimiterName, key: string): Verdict
  /** Books requests that another gateway let through. */
  receive(data: Uint8Array): void
  stop(): void
}

/**
 * Rate limits that hold over all gateways: each counts its own requests, tells the others within 10 ms how
 * many it let through, and books their numbers as debt. So the sum over gateways is the limit, and only
 * requests within one exchange can pass early. While NATS is away each gateway still limits its own requests.
 * Source: docs/contract.md, section 8; the way is ours.
 */
export function createLimiters({
  rules,
  replicaId,
  publish,
  nowMs,
  later = scheduleLater,
}: {
  rules: LimiterRules
  replicaId: string
  publish: (data: Uint8Array) => void
  nowMs: () => number
  /** Runs `fn` once after so many milliseconds, unless the returned function is called before. */
  later?: (fn: () => void, ms: number) => () => void
}): Limiters {
  const states = Object.fromEntries(limiterNames.map((name) => [name, limiterState(rules[name])]))
  const untold = new Map<string, { name: LimiterName; key: string; count: number }>()
  let cancel: (() => void) | null = null

  function stateOf(name: LimiterName): LimiterState {
    const state = states[name]
    if (state === undefined) throw new RangeError(`no such limiter: ${name}`)
    return state
  }

  function tell(): void {
    cancel = null
    const all = [...untold.values()]
    untold.clear()
    for (let from = 0; from < all.length; from += pairsPerMessageMax) {
      const part = all.slice(from, from + pairsPerMessageMax)
      const message = { from: replicaId, let: part.map(({ name, key, count }) => [name, key, count]) }
      publish(new TextEncoder().encode(JSON.stringify(message)))
    }
  }

  return {
    take(name, key) {
      const verdict = stateOf(name).take(key, nowMs())
      if (verdict.allowed) {
        const id = `${name} ${key}`
        const known = untold.get(id)
        if (known === undefined) untold.set(id, { name, key, count: 1 })
        else known.count += 1
        cancel ??= later(tell, exchangeMs)
      }
      return verdict
    },
    peek: (name, key) => stateOf(name).peek(key, nowMs()),
    receive(data) {
      const message = messageSchema.safeParse(parseOrNull(data))
      if (!message.success || message.data.from === replicaId) return
      for (const [name, key, count] of message.data.let) stateOf(name).charge(key, count, nowMs())
    },
    stop() {
      if (cancel === null) return
      cancel()
      tell()
    },
  }
}

function scheduleLater(fn: () => void, ms: number): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}

type LimiterState = {
  take(key: string, nowMs: number): Verdict
  peek(key: string, nowMs: number): Verdict
  charge(key: string, count: number, nowMs: number): void
}

function limiterState(rule: BucketRule | WindowRule): LimiterState {
  return rule.kind === 'bucket' ? bucketLimiter(rule) : windowLimiter(rule)
}

function bucketLimiter(rule: BucketRule): LimiterState {
  const buckets = new BoundedMap<string, BucketState>(keysMax)
  const of = (key: string, nowMs: number) => getOrAdd(buckets, key, () => newBucket(rule, nowMs))
  return {
    take: (key, nowMs) => takeFromBucket(rule, of(key, nowMs), nowMs),
    peek: (key, nowMs) => takeFromBucket(rule, { ...of(key, nowMs) }, nowMs),
    charge: (key, count, nowMs) => chargeBucket(rule, of(key, nowMs), count, nowMs),
  }
}

function windowLimiter(rule: WindowRule): LimiterState {
  const windows = new BoundedMap<string, WindowState>(keysMax)
  const of = (key: string) => getOrAdd(windows, key, newWindow)
  return {
    take: (key, nowMs) => takeFromWindow(rule, of(key), nowMs),
    peek: (key, nowMs) => peekWindow(rule, of(key), nowMs),
    charge: (key, count, nowMs) => chargeWindow(rule, of(key), count, nowMs),
  }
}

function getOrAdd<State>(map: BoundedMap<string, State>, key: string, make: () => State): State {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function parseOrNull(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data))
  } catch {
    return null
  }
}
