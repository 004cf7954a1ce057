import { roundStatus } from '@pitboss/contracts/objects/round'
import { registerCounter, registerGauge } from '@pitboss/runtime/register-metrics'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type YieldReason, yieldReasons } from './actions/admit-play.ts'
import type { RoundsContext } from './context.ts'
import type { RoundState } from './rules/round.ts'
import type { RoundsStore } from './storage/rounds-store.ts'

export function registerMetrics(registry: Registry, rounds: Pick<RoundsStore, 'unfinished'>): void {
  const read = async () => (await rounds.unfinished()).count
  registerGauge(registry, 'pitboss_rounds_unfinished', 'Rounds that are not over', read)
}

export function createStateNote(registry: Registry) {
  const help = 'Rounds that entered a state, by writes of this process'
  const name = 'pitboss_rounds_entered_total'
  const entered = registerCounter(registry, name, help, 'round_status', roundStatus.options)
  return function noteState(before: RoundState | null, { status }: RoundState): void {
    if (before?.status !== status) entered.inc({ round_status: status })
  }
}

type PlayNotes = Pick<RoundsContext, 'noteConflict' | 'noteRefusedSettlement'>

/** Counts and logs what a person has to know of; each refused settlement is asked for again for ever. */
export function createPlayNotes(registry: Registry, logger: Logger): PlayNotes {
  const ofConflicts =
    "Requests of operators' servers whose transaction_id is that of a movement of a game round"
  const conflicts = registerCounter(registry, 'pitboss_rounds_id_conflicts_total', ofConflicts)
  const ofRefused = 'Owed movements of rounds that wallet-bridge refused for good, by code'
  const refused = registerCounter(registry, 'pitboss_rounds_settlement_refused_total', ofRefused, 'code')
  return {
    noteConflict({ id, operatorId, environment, driver }, transactionId) {
      conflicts.inc()
      const whose = { operator_id: operatorId, environment, round_id: id, driver }
      logger.warn({ ...whose, transaction_id: transactionId }, 'transaction-id.of-other-driver')
    },
    noteRefusedSettlement({ id, operatorId, environment }, transactionId, code) {
      refused.inc({ code })
      const whose = { operator_id: operatorId, environment, round_id: id }
      logger.error({ ...whose, transaction_id: transactionId, code }, 'settlement.refused')
    },
  }
}

export function createYieldNote(registry: Registry): (reason: YieldReason) => void {
  const help = 'New rounds and stakes that were refused so that events and deliveries keep up'
  const refused = registerCounter(registry, 'pitboss_rounds_play_refused_total', help, 'why', yieldReasons)
  return (why) => refused.inc({ why })
}
