import type { Bug } from '@pitboss/bugs/bugs'
import type { Logger } from 'pino'
import { pino } from 'pino'
import type { transition } from '@pitboss/rounds/rules/transition'
import type { GrantsStore } from '@pitboss/rounds/storage/grants-store'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import type { MovementMessage, MovementState, MovementStep } from '@pitboss/wallet-bridge/rules/movement'
import type { BreakerNote } from '@pitboss/wallet-bridge/clients/breakers'
import type { BridgeProcess } from './bridge-process.ts'
import type { JournalChecks } from './check-journal.ts'
import type { RoundsJournalChecks } from './check-rounds-journal.ts'
import type { StepChecks } from './check-steps.ts'
import type { Machine } from './machine.ts'
import type { Random } from '@pitboss/chaos/random'
import type { ModelGrants } from './model-grants.ts'
import type { ModelLimits } from './model-limits.ts'
import type { ModelBus } from './model-bus.ts'
import type { ModelProtection } from './model-protection.ts'
import type { ModelSessions } from './model-sessions.ts'
import type { ModelMovements } from './model-movements.ts'
import type { ModelReports } from './model-reports.ts'
import type { ModelRounds } from './model-rounds.ts'
import type { ModelStream } from './model-stream.ts'
import type { ModelWallet } from './model-wallet.ts'
import type { Timeline } from './timeline.ts'
import type { Faults } from './faults.ts'

export type GrantUses = Pick<GrantsStore, 'open' | 'use' | 'giveBack'>

/** Rules or stores with a mistake, or the name of a deliberate bug: what a run is to find. */
export type Mistake = {
  readonly movementRules?: (state: MovementState, message: MovementMessage) => MovementStep
  readonly roundRules?: typeof transition
  readonly rounds?: (store: RoundsStore) => RoundsStore
  readonly grants?: (store: GrantUses) => GrantUses
  readonly bug?: Bug
  readonly journal?: JournalMistake
}

/** What a journal does wrong. */
export type JournalMistake =
  | 'events count as recorded before they are sent'
  | 'what lives is taken over'
  | 'lists are set back'
  | 'lists go out beside their entries'
  | 'replicas share a slot'
  | 'a slow read is remembered'

/** State that outlives every process: the tables, the stream, the wallet, the time. */
export type World = {
  readonly timeline: Timeline
  readonly random: Random
  readonly faults: Faults
  readonly movements: ModelMovements
  readonly rounds: ModelRounds
  readonly grants: ModelGrants
  readonly limits: ModelLimits
  readonly sessions: ModelSessions
  readonly protection: ModelProtection
  readonly reports: ModelReports
  readonly stream: ModelStream
  readonly wallet: ModelWallet
  readonly bus: ModelBus
  /** Carries notes about the wallet from one wallet-bridge to the others; some get lost. */
  readonly bridges: {
    tell(from: Machine, note: BreakerNote): void
    /** One that runs; undefined while none does. */
    pick(): BridgeProcess | undefined
  }
  readonly checks: Pick<JournalChecks, 'movementAnswered' | 'backlogPulled'> &
    Pick<RoundsJournalChecks, 'roundAnswered'> &
    Pick<StepChecks, 'roundKept'>
  readonly mistake: Mistake
  /**
   * Divides abandonment, the retry schedule of credits and the breaker's intervals by the run's time scale.
   */
  readonly scaleMs: (ms: number) => number
  readonly has: (bug: Bug) => boolean
  readonly newId: (prefix: string) => string
  readonly newUuid: () => string
  readonly trace: (line: string) => void
  /** Gets every error that no process was expected to throw. */
  readonly onError: (error: unknown) => void
}

export const scope = {
  operatorId: '00000000-0000-4000-8000-0000000000aa',
  environment: 'SANDBOX',
} as const

/** A log without a reader costs nothing. */
export const silent: Logger = pino({ level: 'silent' })
