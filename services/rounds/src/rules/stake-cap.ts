import {
  type Jurisdiction,
  profileOf,
  type StakeCap,
  type StakeCapName,
} from '@pitboss/contracts/jurisdictions'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { parseAmount } from '@pitboss/money/amount'
import type { StakeRange } from './limits.ts'

type Capped = { readonly jurisdiction?: Jurisdiction; readonly stakeCap?: StakeCapName }

/**
 * The range of stakes that the cap of a session leaves; null for a session without one.
 * Source: docs/contract.md, section 4, "Jurisdictions".
 */
export function capRangeOf(session: Capped): StakeRange | null {
  const cap = capOf(session)
  return cap === null ? null : { minStake: null, maxStake: parseAmount(cap.maxStake, cap.currency) }
}

/**
 * Refuses a stake above the cap of its session; a free bet's, too.
 * @param stake minor units of the session's currency
 * @throws ServiceError BET_LIMIT_EXCEEDED naming the cap
 */
export function assertWithinCap(session: Capped, stake: bigint): void {
  const cap = capOf(session)
  if (cap === null || stake <= parseAmount(cap.maxStake, cap.currency)) return
  const message = `The greatest stake is ${cap.maxStake} ${cap.currency}: the cap of ${session.jurisdiction} for online slots.`
  throw new ServiceError('BET_LIMIT_EXCEEDED', { message, details: [{ path: 'stake_cap', message }] })
}

/**
 * The cap that a session asks for, where its jurisdiction has one in its currency.
 * @throws ServiceError VALIDATION_ERROR at `stake_cap`
 */
export function readCap(
  asked: StakeCapName | undefined,
  { jurisdiction, currency }: { readonly jurisdiction: Jurisdiction; readonly currency: string },
): { stakeCap?: StakeCapName } {
  if (asked === undefined) return {}
  const cap = capOf({ jurisdiction, stakeCap: asked })
  if (cap === null) throw invalidField('stake_cap', 'needs a jurisdiction that has this cap')
  if (cap.currency !== currency) {
    throw invalidField('stake_cap', `is set in ${cap.currency} alone; in ${currency} use limits.max_stake`)
  }
  return { stakeCap: asked }
}

function capOf({ stakeCap, ...session }: Capped): StakeCap | null {
  return stakeCap === undefined ? null : (profileOf(session).stakeCaps[stakeCap] ?? null)
}
