import type { Verdict } from './token-bucket.ts'

/** At most `count` requests in any span of `windowMs`; exact, since each one that passed is remembered. */

export type WindowRule = { readonly kind: 'window'; readonly count: number; readonly windowMs: number }
/** Instants of the requests that passed, oldest first. */
export type WindowState = { hitsAtMs: number[] }

/**
 * Bound of the memory, as a multiple of the limit: other gateways may let more through before they tell us.
 */
const rememberedMax = 4

export function newWindow(): WindowState {
  return { hitsAtMs: [] }
}

/** The verdict of `takeFromWindow`, without taking. */
export function peekWindow(rule: WindowRule, state: WindowState, nowMs: number): Verdict {
  forget(rule, state, nowMs)
  return verdict(rule, state, nowMs, state.hitsAtMs.length < rule.count)
}

export function takeFromWindow(rule: WindowRule, state: WindowState, nowMs: number): Verdict {
  forget(rule, state, nowMs)
  const allowed = state.hitsAtMs.length < rule.count
  if (allowed) state.hitsAtMs.push(nowMs)
  return verdict(rule, state, nowMs, allowed)
}

/** Books requests that another gateway let through. */
export function chargeWindow(rule: WindowRule, state: WindowState, count: number, nowMs: number): void {
  forget(rule, state, nowMs)
  const room = rule.count * rememberedMax - state.hitsAtMs.length
  for (let booked = 0; booked < Math.min(count, room); booked++) state.hitsAtMs.push(nowMs)
}

function forget({ windowMs }: WindowRule, { hitsAtMs }: WindowState, nowMs: number): void {
  let old = 0
  while (old < hitsAtMs.length && (hitsAtMs[old] ?? 0) <= nowMs - windowMs) old += 1
  if (old > 0) hitsAtMs.splice(0, old)
}

function verdict(rule: WindowRule, { hitsAtMs }: WindowState, nowMs: number, allowed: boolean): Verdict {
  const used = hitsAtMs.length
  const oldestMs = hitsAtMs[Math.max(0, used - rule.count)] ?? nowMs
  const freeInS = Math.max(1, Math.ceil((oldestMs + rule.windowMs - nowMs) / 1000))
  return {
    allowed,
    limit: rule.count,
    remaining: Math.max(0, rule.count - used),
    resetS: used === 0 ? 0 : freeInS,
    retryAfterS: freeInS,
  }
}
