import type { RoundsContext } from '../../context.ts'
import type { PacesStore, SpendsStore } from './storage/paces-store.ts'
import type { PlayerLimitsStore } from './storage/player-limits-store.ts'
import type { StopsStore } from './storage/stops-store.ts'

export type ProtectionContext = RoundsContext & {
  readonly stops: StopsStore
  readonly playerLimits: PlayerLimitsStore
  readonly spends: SpendsStore
  readonly paces: PacesStore
}

export type LimitsContext = Pick<RoundsContext, 'clock' | 'clockOffsetMs'> & {
  readonly sessions: Pick<RoundsContext['sessions'], 'timesOf'>
  readonly playerLimits: Pick<PlayerLimitsStore, 'find' | 'keep'>
  readonly rounds: Pick<RoundsContext['rounds'], 'charged'>
}
