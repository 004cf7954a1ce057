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

/** The range that the session's cap leaves; null for none. Source: docs/contract.md, section 4. */
export function capRangeOf(session: Capped): StakeRange | null {
  const cap = capOf(session)
  return cap === null ? null : { minStake: null, maxStake: parseAmount(cap.maxStake, cap.currency) }
}

/** Refuses a stake of `minor` units above the cap, free bets too. @throws ServiceError BET_LIMIT_EXCEEDED */
export function assertWithinCap(session: Capped, stake: bigint): void {
  const cap = capOf(session)
  if (cap === null || stake <= parseAmount(cap.maxStake, cap.currency)) return
  const message = `The greatest stake is ${cap.maxStake} ${cap.currency}: the cap of ${session.jurisdiction} for online slots.`
  throw new ServiceError('BET_LIMIT_EXCEEDED', { message, details: [{ path: 'stake_cap', message }] })
}

/** The cap that a session asks for. @throws ServiceError VALIDATION_ERROR at `stake_cap` */
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
