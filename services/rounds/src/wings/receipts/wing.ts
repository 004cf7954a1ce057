import { answer, handler } from '@pitboss/bus/serve-calls'
import { roundReceipt } from '@pitboss/contracts/calls/dashboard'
import { sendReceipt } from '@pitboss/contracts/endpoints/play'
import { receiptState, type SealedReceipt } from '@pitboss/contracts/objects/receipt'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { RoundState } from '../../rules/round.ts'
import type { Wing } from '../../wing.ts'
import { findReceipt, keepReceipt, type ReceiptsContext } from './actions/receipts.ts'
import { createReceiptsStore, receiptPlace, receiptPurpose } from './storage/receipts-store.ts'

/** What pages showed of settled rounds. Source: docs/contract.md, section 4, "Receipts". */
export const receipts: Wing = {
  seals: [receiptPlace],
  open(core, { db, keyring, registry }) {
    const context: ReceiptsContext = {
      ...core,
      receipts: createReceiptsStore({ db, secretBox: createSecretBox(keyring, receiptPurpose) }),
      noteReceipt: createReceiptNote(registry, core.logger),
    }
    return {
      calls: [
        handler(sendReceipt.call, async (asked) => {
          const { hash, received_at } = await keepReceipt(context, asked)
          return answer({ round_id: asked.params.round_id, hash, received_at })
        }),
        handler(roundReceipt, async ({ caller, roundId }) => ({
          receipt: await findReceipt(context, caller, roundId),
        })),
      ],
    }
  },
}

export function createReceiptNote(registry: Registry, logger: Logger) {
  const receipts = new Counter({
    name: 'pitboss_rounds_receipts_total',
    help: 'Receipts of what pages showed of a settled round, by how they compare with the round',
    labelNames: ['state'],
    registers: [registry],
  })
  for (const state of receiptState.options) receipts.inc({ state }, 0)
  return function noteReceipt({ id, operatorId, environment, game }: RoundState, receipt: SealedReceipt) {
    const { state, build, language, text, expected } = receipt
    receipts.inc({ state })
    if (state !== 'DIFFERS') return
    const about = { operator_id: operatorId, environment, round_id: id, game, build, language }
    logger.error({ ...about, shown: text, expected }, 'receipt.differs')
  }
}
