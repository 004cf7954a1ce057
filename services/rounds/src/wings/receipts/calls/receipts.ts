import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { roundReceipt } from '@pitboss/contracts/calls/dashboard'
import { sendReceipt } from '@pitboss/contracts/endpoints/play'
import { findReceipt, keepReceipt } from '../actions/receipts.ts'
import type { ReceiptsContext } from '../context.ts'

/** Calls about receipts of what pages showed. Source: docs/contract.md, section 4, "Receipts". */
export function receiptCalls(context: ReceiptsContext): CallHandler[] {
  return [
    handler(sendReceipt.call, async ({ caller, params: { round_id }, body, added }) => {
      const { hash, received_at } = await keepReceipt(context, caller, round_id, body, added?.page ?? null)
      return answer({ round_id, hash, received_at })
    }),
    handler(roundReceipt, async ({ caller, roundId }) => ({
      receipt: await findReceipt(context, caller, roundId),
    })),
  ]
}
