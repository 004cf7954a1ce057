import { createHash } from 'node:crypto'
import { scheduleLater } from '@pitboss/runtime/schedule-later'
import { z } from 'zod'
import type { limiterRules } from '../config.ts'
import { parseOrNull } from '../input/parse-json.ts'
import { createRateCounter, type Verdict } from './rate-counter.ts'

export type LimiterRules = ReturnType<typeof limiterRules>
type LimiterName = keyof LimiterRules

/** Longest time between a request that passes and the message to the other gateways, in milliseconds. */
const exchangeMs = 10
const pairsPerMessageMax = 500
/** Keeps a full message far below the limit of NATS; names that clients choose come in as hashes. */
const keyCharactersMax = 128

export const limitsSubject = 'gw.limits.v1'

const messageSchema = z.strictObject({
  from: z.string().max(64),
  let: z
    .array(z.tuple([z.string().max(64), z.string().max(keyCharactersMax), z.int().min(1)]))
    .max(pairsPerMessageMax),
})

export type Limiters = {
  /** Counts one request when it may pass. Never throws. */
  take(name: LimiterName, key: string): Verdict
  /** The verdict of `take`, without counting. */
  peek(name: LimiterName, key: string): Verdict
  /** Counts one request that has passed already, as debt where there is no room. Never throws. */
  book(name: LimiterName, key: string): Verdict
  /** Books requests that another gateway let through. */
  receive(data: Uint8Array): void
  stop(): void
}

/**
 * Rate limits that hold over all gateways: each counts its own requests, publishes within 10 ms how many it
 * let through, and books the others' numbers as debt. So the sum over gateways is the limit, and only
 * requests within one exchange can pass early. While NATS is away each gateway still limits its own requests.
 * Source: docs/contract.md, section 8; the way is ours.
 */
export function createLimiters({
  rules,
  replicaId,
  publish,
  nowMs,
  onRefused = () => undefined,
  later = scheduleLater,
}: {
  rules: LimiterRules
  replicaId: string
  publish: (data: Uint8Array) => void
  nowMs: () => number
  /** Hears of each request that a limit has no room for. */
  onRefused?: (name: LimiterName) => void
  later?: typeof scheduleLater
}): Limiters {
  const counters = new Map(Object.entries(rules).map(([name, rule]) => [name, createRateCounter(rule)]))
  const unpublished = new Map<string, { name: LimiterName; key: string; count: number }>()
  let cancel: (() => void) | null = null

  function counterOf(name: LimiterName) {
    const counter = counters.get(name)
    if (counter === undefined) throw new RangeError(`no such limiter: ${name}`)
    return counter
  }

  function publishCounts(): void {
    cancel = null
    const pairs = [...unpublished.values()].map(({ name, key, count }) => [name, key, count])
    unpublished.clear()
    for (let from = 0; from < pairs.length; from += pairsPerMessageMax) {
      const message = { from: replicaId, let: pairs.slice(from, from + pairsPerMessageMax) }
      publish(new TextEncoder().encode(JSON.stringify(message)))
    }
  }

  function judged(name: LimiterName, verdict: Verdict): Verdict {
    if (!verdict.allowed) onRefused(name)
    return verdict
  }

  function publishLater(name: LimiterName, key: string): void {
    const id = `${name} ${key}`
    unpublished.set(id, { name, key, count: (unpublished.get(id)?.count ?? 0) + 1 })
    cancel ??= later(publishCounts, exchangeMs)
  }

  return {
    take(name, key) {
      const verdict = judged(name, counterOf(name).take(key, nowMs()))
      if (verdict.allowed) publishLater(name, key)
      return verdict
    },
    book(name, key) {
      counterOf(name).charge(key, 1, nowMs())
      publishLater(name, key)
      return counterOf(name).peek(key, nowMs())
    },
    peek: (name, key) => judged(name, counterOf(name).peek(key, nowMs())),
    receive(data) {
      const message = messageSchema.safeParse(parseOrNull(data))
      if (!message.success || message.data.from === replicaId) return
      for (const [name, key, count] of message.data.let) counters.get(name)?.charge(key, count, nowMs())
    },
    stop() {
      if (cancel === null) return
      cancel()
      publishCounts()
    },
  }
}

/** Hashes a text that a client chose, so that keys which gateways send one another stay short. */
export function hashedKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
