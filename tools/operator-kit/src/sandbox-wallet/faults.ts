import { z } from 'zod'
import type { Operation } from './wallet-request.ts'

const RULES_MAX = 100
const DELAY_MS_MAX = 600_000

const faultKind = z.enum([
  'delay',
  'drop',
  'hang',
  'http_error',
  'refuse',
  'rubbish',
  'no_status',
  'wrong_currency',
  'number_balance',
  'redirect',
  'oversized',
])

const faultRuleSchema = z
  .strictObject({
    operation: z.enum(['balance', 'debit', 'credit', 'rollback', 'any']).optional(),
    player_id: z.string().optional(),
    transaction_id: z.string().optional(),
    nth: z.int().min(1).optional(),
    probability: z.number().min(0).max(1).optional(),
    count: z.int().min(1).optional(),
    kind: faultKind,
    apply: z.boolean().optional(),
    delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
    http_status: z.int().min(200).max(599).optional(),
    code: z.string().min(1).max(64).optional(),
  })
  .refine(
    ({ kind, code }) => (kind === 'refuse') === (code !== undefined),
    'code belongs to "refuse" and is required there',
  )
type FaultRule = z.infer<typeof faultRuleSchema>

export const faultsSchema = z.strictObject({
  seed: z.int().min(0).optional(),
  rules: z.array(faultRuleSchema).max(RULES_MAX),
})

/** A rule that fired. `apply`: whether the movement is applied before the fault shows. */
export type Fault = { readonly rule: FaultRule; readonly apply: boolean }

export type FaultPlan = {
  set(faults: z.infer<typeof faultsSchema>): void
  clear(): void
  list(): { seed: number; rules: object[] }
  /**
   * The fault of this call, by the first rule that fires; counts the call against every rule that it matches.
   */
  next(call: { operation: Operation; playerId: string | null; transactionId: string | null }): Fault | null
}

const appliesByDefault: ReadonlySet<string> = new Set([
  'delay',
  'rubbish',
  'no_status',
  'wrong_currency',
  'number_balance',
  'oversized',
])

/** Faults by rule. The same seed, rules and order of calls give the same faults. */
export function createFaultPlan(seedAtStart: number): FaultPlan {
  let seed = seedAtStart
  let states: Array<{ rule: FaultRule; matched: number; fired: number; random: () => number }> = []
  return {
    set(faults) {
      seed = faults.seed ?? seedAtStart
      states = faults.rules.map((rule, index) => ({
        rule,
        matched: 0,
        fired: 0,
        random: seededRandom(seed * 1009 + index),
      }))
    },
    clear() {
      states = []
    },
    list: () => ({ seed, rules: states.map(({ rule, matched, fired }) => ({ ...rule, matched, fired })) }),
    next(call) {
      let fault: Fault | null = null
      for (const state of states) {
        if (!matches(state.rule, call)) continue
        state.matched += 1
        if (fault !== null || !fires(state)) continue
        state.fired += 1
        const { rule } = state
        fault = { rule, apply: rule.apply ?? appliesByDefault.has(rule.kind) }
      }
      return fault
    },
  }
}

function matches(rule: FaultRule, call: Parameters<FaultPlan['next']>[0]): boolean {
  const { operation = 'any', player_id: playerId, transaction_id: transactionId } = rule
  if (operation !== 'any' && operation !== call.operation) return false
  if (playerId !== undefined && playerId !== call.playerId) return false
  return transactionId === undefined || transactionId === call.transactionId
}

function fires({
  rule,
  matched,
  fired,
  random,
}: {
  rule: FaultRule
  matched: number
  fired: number
  random: () => number
}): boolean {
  if (rule.count !== undefined && fired >= rule.count) return false
  if (rule.nth !== undefined && matched !== rule.nth) return false
  return rule.probability === undefined || random() < rule.probability
}

/** Numbers from 0 up to 1 that depend on the seed alone (mulberry32); for test faults, never for play. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
