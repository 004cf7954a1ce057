import { clauses, greenRunOf } from '@pitboss/contracts/compliance'
import { jurisdictionName, profileOf, stakeCapName } from '@pitboss/contracts/jurisdictions'
import { amount, count, currency } from '@pitboss/contracts/primitives'
import { realityCheckS } from '@pitboss/contracts/objects/session'
import { z } from 'zod'
import type { Handler } from '../http/inbound.ts'

/** Reply of `GET /v1/public/compliance`. Source: docs/contract.md, section 4, "Jurisdictions". */
export const complianceReply = z.strictObject({
  data: z.array(
    z.strictObject({
      jurisdiction: jurisdictionName.exclude(['NONE']),
      start_gap_s: count.nullable(),
      reality_check_s: realityCheckS.nullable(),
      spend_in_view: z.boolean(),
      stake_caps: z.array(z.strictObject({ name: stakeCapName, currency, max_stake: amount })),
      clauses: z.array(
        z.strictObject({
          clause: z.string(),
          asks: z.string(),
          source: z.string(),
          means: z.string(),
          enforced_at: z.array(z.string()),
          tests: z.array(
            z.strictObject({ file: z.string(), name: z.string(), last_green_at: z.string().nullable() }),
          ),
        }),
      ),
    }),
  ),
})

/** `GET /v1/public/compliance`: the rules and the clauses of each jurisdiction. Made once. */
export function createCompliance(): Handler {
  const data = jurisdictionName.exclude(['NONE']).options.map(describe)
  return async () => ({ status: 200, headers: { 'cache-control': 'public, max-age=300' }, json: { data } })
}

function describe(jurisdiction: (typeof clauses)[number]['jurisdiction']) {
  const { startGapS, realityCheckS, showsSpend, stakeCaps } = profileOf({ jurisdiction })
  return {
    jurisdiction,
    start_gap_s: startGapS,
    reality_check_s: realityCheckS,
    spend_in_view: showsSpend,
    stake_caps: stakeCapName.options.flatMap((name) => {
      const cap = stakeCaps[name]
      return cap === undefined ? [] : [{ name, currency: cap.currency, max_stake: cap.maxStake }]
    }),
    clauses: clauses
      .filter((clause) => clause.jurisdiction === jurisdiction)
      .map(({ clause, asks, source, means, enforcedAt, tests }) => ({
        ...{ clause, asks, source, means, enforced_at: enforcedAt },
        tests: tests.map((test) => ({ ...test, last_green_at: greenRunOf(test) })),
      })),
  }
}
