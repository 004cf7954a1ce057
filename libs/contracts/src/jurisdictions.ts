import { z } from 'zod'

/** Rule sets that a session can be played under. `NONE` adds no rule to this contract. */
export const jurisdictionName = z.enum(['NONE', 'UK', 'MT', 'ON', 'SE'])
export type Jurisdiction = z.infer<typeof jurisdictionName>

/** The rules of a jurisdiction for rounds that the service drives. Source: docs/compliance.md. */
export type JurisdictionProfile = {
  /** Least seconds from one game start of a player to the next, in any game; null sets none. */
  readonly startGapS: number | null
  /** Seconds of a session from one reality check to the next; null asks for none. */
  readonly realityCheckS: number | null
  /** Elapsed time and net spend of the session belong into view. */
  readonly showsSpend: boolean
  /** Greatest stake by currency, as a decimal string; a currency without one has no cap. */
  readonly maxStake: Readonly<Record<string, string>>
}

const none: JurisdictionProfile = { startGapS: null, realityCheckS: null, showsSpend: false, maxStake: {} }

/**
 * The rules by jurisdiction. MT and ON have clauses that hold in every session; SE has none yet. The 5 s are
 * RTS 14G; the interval of the reality check is ours, since RTS 13 leaves it to the customer.
 */
const profiles: Readonly<Record<Jurisdiction, JurisdictionProfile>> = {
  NONE: none,
  UK: { startGapS: 5, realityCheckS: 1800, showsSpend: true, maxStake: {} },
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
