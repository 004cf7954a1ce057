import { receiptState, type SealedReceipt } from '@pitboss/contracts/objects/receipt'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { RoundState } from '../../rules/round.ts'

/** Creates the log and the count of receipts of what pages showed. One that differs is an alarm. */
export function createReceiptNote(
  registry: Registry,
  logger: Logger,
): (round: RoundState, receipt: SealedReceipt) => void {
  const receipts = new Counter({
    name: 'pitboss_rounds_receipts_total',
    help: 'Receipts of what pages showed of a settled round, by how they compare with the round',
    labelNames: ['state'],
    registers: [registry],
  })
  for (const state of receiptState.options) receipts.inc({ state }, 0)
  return function noteReceipt({ id, operatorId, environment, game }, receipt) {
    const { state, build, language, text, expected } = receipt
    receipts.inc({ state })
    if (state !== 'DIFFERS') return
    const about = { operator_id: operatorId, environment, round_id: id, game, build, language }
    logger.error({ ...about, shown: text, expected }, 'receipt.differs')
  }
}
