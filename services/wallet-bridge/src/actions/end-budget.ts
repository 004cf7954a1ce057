import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { Logger } from 'pino'
import type { AskStanding } from '../clients/ask-standing.ts'
import { freshRollback } from '../records/new-movement.ts'
import { toMovementRecord } from '../records/render-movement.ts'
import type { MovementDocument } from '../storage/movements.ts'
import type { ApplyDeps, ApplyMessage, EntryOf } from './apply-message.ts'

export type EndBudget = (stake: MovementDocument, requestId: string) => Promise<MovementDocument>

/** The pause before rounds is asked again. */
const askAgainMs = 5000
const settlement = 'settlement'

/**
 * Creates the end of a stake whose time was used up while nobody called its wallet, or whose call was lost.
 * Its record may be older than what the service has told of it, as after a restore, so rounds is asked before
 * its rollback is owed: a stake that rounds knows as taken is a success, and one that it does not know waits
 * for a person. Source: docs/contract.md, section 5.
 */
export function createEndBudget({
  apply,
  askStanding,
  audit,
  clock,
  newId,
  logger,
}: Pick<ApplyDeps, 'clock' | 'newId'> & {
  apply: ApplyMessage
  askStanding: AskStanding
  audit: Pick<AuditOutbox, 'entry'>
  logger: Logger
}): EndBudget {
  return async function endBudget(stake, requestId) {
    const standing = await askStanding(stake, requestId)
    const at = clock.now()
    if (standing === 'not-taken') {
      const rollback = freshRollback(stake, newId)
      return (await apply(stake, { kind: 'budget-spent', at, rollback })).document
    }
    const { operatorId, environment, transactionId, reference, roundId } = stake
    const about = { operator_id: operatorId, environment, transaction_id: transactionId, reference }
    if (standing === 'taken') {
      logger.warn({ ...about, round_id: roundId }, 'stake.known-as-taken')
      return (await apply(stake, { kind: 'known-taken', at }, undefined, entryOf(requestId))).document
    }
    const inDoubt = standing === 'unknown'
    if (inDoubt && stake.inDoubt !== true) logger.error({ ...about, round_id: roundId }, 'stake.in-doubt')
    const until = new Date(at.getTime() + askAgainMs)
    return (await apply(stake, { kind: 'rollback-held', at, until, inDoubt })).document
  }

  function entryOf(requestId: string): EntryOf {
    return (before, after) =>
      audit.entry(
        {
          ...{ operator_id: before.operatorId, actor: { kind: 'service', id: settlement, name: settlement } },
          ...{ client_address: null, request_id: requestId, reason: null },
        },
        {
          act: 'movement.heal',
          object: { type: 'movement', id: before.reference },
          before: toMovementRecord(before),
          after: toMovementRecord(after),
        },
      )
  }
}
