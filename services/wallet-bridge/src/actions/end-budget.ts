import type { Settlement } from '../context.ts'
import { freshRollback } from '../records/new-movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { applyMessage, entriesOf } from './apply-message.ts'

/** The pause before others are asked again: what events say takes them longer, and seldom changes. */
const askAgainMs = { unanswered: 5000, 'no-round': 5000, 'taken-by-events': 60_000, 'events-missing': 60_000 }
const actor = { kind: 'service', id: 'settlement', name: 'settlement' } as const

/**
 * Ends a stake whose time was used up uncalled, or whose call was lost. Its record may be older than what the
 * service has told of it, as after a restore: a stake that rounds knows as taken is a success, and one in
 * doubt waits for operations. Source: docs/contract.md, section 5.
 */
export async function endBudget(
  settlement: Settlement,
  stake: MovementDocument,
  requestId: string,
): Promise<MovementDocument> {
  const { askStanding, due, clock, newId, logger } = settlement
  const standing = await askStanding(stake, requestId)
  const at = clock.now()
  if (standing === 'not-taken') {
    const rollback = freshRollback(stake, newId)
    return (await applyMessage(settlement, stake, { kind: 'budget-spent', at, rollback })).document
  }
  const { operatorId, environment, transactionId, reference, roundId } = stake
  const about = { operator_id: operatorId, environment, transaction_id: transactionId, reference }
  if (standing === 'taken') {
    logger.warn({ ...about, round_id: roundId }, 'stake.known-as-taken')
    const by = { operator_id: operatorId, actor, client_address: null, request_id: requestId, reason: null }
    const entryOf = entriesOf(settlement, by, 'movement.heal')
    return (await applyMessage(settlement, stake, { kind: 'known-taken', at }, { entryOf })).document
  }
  const until = new Date(at.getTime() + askAgainMs[standing ?? 'unanswered'])
  const isNewDoubt = standing !== null && (stake.inDoubt !== true || stake.doubt !== standing)
  // A wait that changes nothing of the stake is no step of it: every replica asks once more after a restart.
  if (!isNewDoubt) return due.putOff(stake, until)
  if (stake.inDoubt !== true) logger.error({ ...about, round_id: roundId, doubt: standing }, 'stake.in-doubt')
  const held = { kind: 'rollback-held', at, until, doubt: standing } as const
  return (await applyMessage(settlement, stake, held)).document
}
