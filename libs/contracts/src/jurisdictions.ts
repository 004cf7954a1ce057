import { z } from 'zod'

/** Rule sets that a session can be played under. `NONE` adds no rule to this contract. */
export const jurisdictionName = z.enum(['NONE', 'UK', 'MT', 'ON', 'SE'])
export type Jurisdiction = z.infer<typeof jurisdictionName>

/**
 * Caps on a stake that hold where the operator says so of a session, since they depend on what a game counts
 * as and on the player's age: `slots` for an online slots game, `slots-25-over` for one of a player of 25
 * years or more.
 */
export const stakeCapName = z.enum(['slots', 'slots-25-over'])
export type StakeCapName = z.infer<typeof stakeCapName>
export type StakeCap = { readonly currency: string; readonly maxStake: string }

/** The rules of a jurisdiction for rounds that the service drives. Source: docs/compliance.md. */
export type JurisdictionProfile = {
  /** Least seconds from one game start of a player to the next, in any game; null sets none. */
  readonly startGapS: number | null
  /** Seconds of a session from one reality check to the next; null asks for none. */
  readonly realityCheckS: number | null
  /** Elapsed time and net spend of the session belong into view. */
  readonly showsSpend: boolean
  /** Caps that a session can be opened with; the greatest stake is a decimal string. */
  readonly stakeCaps: Readonly<Partial<Record<StakeCapName, StakeCap>>>
}

const none: JurisdictionProfile = { startGapS: null, realityCheckS: null, showsSpend: false, stakeCaps: {} }

/**
 * The rules by jurisdiction. MT and ON have clauses that hold in every session; SE has none yet. The 5 s are
 * RTS 14G; the interval of the reality check is ours, since RTS 13 leaves it to the customer. The caps are
 * regulation 5(2) of the Gambling Act 2005 (Operating Licence Conditions) Regulations 2007, which SI 2025/215
 * inserted; whoever is not said to be 25 or older is held to the lower one.
 */
const profiles: Readonly<Record<Jurisdiction, JurisdictionProfile>> = {
  NONE: none,
  UK: {
    ...{ startGapS: 5, realityCheckS: 1800, showsSpend: true },
    stakeCaps: {
      slots: { currency: 'GBP', maxStake: '2.00' },
      'slots-25-over': { currency: 'GBP', maxStake: '5.00' },
    },
  },
  MT: none,
  ON: none,
  SE: none,
}

/** The rules of a session; those of `NONE` for one that names no jurisdiction. */
export function profileOf({
  jurisdiction = 'NONE',
}: {
  readonly jurisdiction?: Jurisdiction
}): JurisdictionProfile {
  return profiles[jurisdiction]
}
