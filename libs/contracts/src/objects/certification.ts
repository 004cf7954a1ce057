import { z } from 'zod'
import { caseGroups } from '../certification/run-cases.ts'
import { count, currency, elapsedMs, httpStatus, playerId } from '../primitives.ts'

/** Certifications of wallets and webhook receivers. Source: docs/contract.md, section 3. */

/** A request of a case and what came back, cut to some hundred characters; no secret and no signature. */
const exchangeSchema = z.strictObject({
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  http_status: httpStatus.nullable(),
  answer: z.string().nullable(),
  error: z.string().nullable(),
  latency_ms: elapsedMs.nullable(),
})

const caseSchema = z.strictObject({
  id: z.string(),
  group: z.enum(caseGroups),
  title: z.string(),
  outcome: z.enum(['passed', 'failed', 'skipped']),
  duration_ms: elapsedMs,
  message: z.string().nullable(),
  /** What it costs that it failed, and what to do; null unless it did. */
  why: z.string().nullable(),
  hint: z.string().nullable(),
  /** The latest of the case, and how many there were. */
  exchanges: z.array(exchangeSchema),
  exchanges_total: count,
})

const summary = {
  certification_id: z.string(),
  url: z.string(),
  status: z.enum(['RUNNING', 'DONE', 'CANCELLED']),
  /** Null while it runs. */
  certified: z.boolean().nullable(),
  /** Why it ended before its last case; null unless it did. */
  reason: z.string().nullable(),
  cases_total: count,
  passed: count,
  failed: count,
  skipped: count,
  created_at: z.string(),
  finished_at: z.string().nullable(),
}
const walletFields = {
  player_id: z.string(),
  currency: z.string(),
  blocked_player_id: z.string().nullable(),
  unknown_player_id: z.string().nullable(),
}

export const webhookCertificationSummarySchema = z.strictObject({ ...summary, webhook_id: z.string() })
export const webhookCertificationSchema = webhookCertificationSummarySchema.extend({
  cases: z.array(caseSchema),
})

export const walletCertificationSummarySchema = z.strictObject({ ...summary, ...walletFields })
export const walletCertificationSchema = walletCertificationSummarySchema.extend({
  cases: z.array(caseSchema),
})

export const walletCertifySchema = z.strictObject({
  /** Plays for nothing else, and owns at least 100 units. */
  player_id: playerId.default('certification'),
  /** Default: the first currency of the account. */
  currency: currency.optional(),
  /** Without one the cases about blocked players are skipped, and so on. */
  blocked_player_id: playerId.optional(),
  unknown_player_id: playerId.optional(),
})
