import { roundStatus } from '@pitboss/contracts/objects/round'
import type { Logger } from 'pino'
import { registerGauge } from '@pitboss/runtime/register-gauge'
import { Counter, type Registry } from 'prom-client'
import { type YieldReason, yieldReasons } from './actions/admit-play.ts'
import type { RoundsContext } from './context.ts'
import type { RoundState } from './rules/round.ts'
import type { RoundsStore } from './storage/rounds-store.ts'

export function registerMetrics(registry: Registry, rounds: Pick<RoundsStore, 'unfinished'>): void {
  const read = async () => (await rounds.unfinished()).count
  registerGauge(registry, 'pitboss_rounds_unfinished', 'Rounds that are not over', read)
}

export function createStateNote(registry: Registry) {
  const entered = new Counter({
    name: 'pitboss_rounds_entered_total',
    help: 'Rounds that entered a state, by writes of this process',
    labelNames: ['round_status'],
    registers: [registry],
  })
  for (const round_status of roundStatus.options) entered.inc({ round_status }, 0)
  return function noteState(before: RoundState | null, { status }: RoundState): void {
    if (before?.status !== status) entered.inc({ round_status: status })
  }
}

type PlayNotes = Pick<RoundsContext, 'noteConflict' | 'noteRefusedSettlement'>

/** Counts and logs what a person has to know of; each refused settlement is asked for again for ever. */
export function createPlayNotes(registry: Registry, logger: Logger): PlayNotes {
  const conflicts = new Counter({
    name: 'pitboss_rounds_id_conflicts_total',
    help: "Requests of operators' servers whose transaction_id is that of a movement of a game round",
    registers: [registry],
  })
  const refused = new Counter({
    name: 'pitboss_rounds_settlement_refused_total',
    help: 'Owed movements of rounds that wallet-bridge refused for good, by code',
    labelNames: ['code'],
    registers: [registry],
  })
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
  const refused = new Counter({
    name: 'pitboss_rounds_play_refused_total',
    help: 'New rounds and stakes that were refused so that events and deliveries keep up',
    labelNames: ['why'],
    registers: [registry],
  })
  for (const why of yieldReasons) refused.inc({ why }, 0)
  return (why) => refused.inc({ why })
}
