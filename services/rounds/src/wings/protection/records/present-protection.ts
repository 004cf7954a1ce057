import type { PlayerSession } from '@pitboss/contracts/endpoints/play'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { formatAmount } from '@pitboss/money/amount'
import { realityCheckAt } from '../../../rules/live-rules.ts'
import type { SessionDocument } from '../../../storage/sessions-store.ts'
import type { Spend } from '../storage/spends-store.ts'

/** What a jurisdiction wants shown; net spend is stakes less payouts. Source: docs/contract.md, section 4. */
export function presentProtection(
  session: SessionDocument,
  { stakes, payouts }: Spend,
  now: Date,
): NonNullable<PlayerSession['protection']> {
  const { currency, createdAt, expiresAt, closedAt, realityCheckS } = session
  const endsAt = closedAt ?? expiresAt
  const wholeS = (ms: number) => Math.max(0, Math.floor(ms / 1000))
  const dueAt = realityCheckAt(session)
  return {
    start_gap_s: profileOf(session).startGapS,
    elapsed_s: wholeS((now < endsAt ? now : endsAt).getTime() - createdAt.getTime()),
    net_spend: { amount: formatAmount(stakes - payouts, currency), currency },
    reality_check:
      dueAt === null || realityCheckS === undefined
        ? null
        : {
            every_s: realityCheckS,
            due_in_s: Math.ceil(Math.max(0, dueAt.getTime() - now.getTime()) / 1000),
          },
  }
}
