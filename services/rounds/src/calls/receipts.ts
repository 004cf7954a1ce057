import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { roundReceipt } from '@pitboss/contracts/calls/dashboard'
import { sendReceipt } from '@pitboss/contracts/endpoints/play'
import type { Receipts } from '../actions/receipts.ts'

/** Calls about receipts of what pages showed. Source: docs/contract.md, section 4, "Receipts". */
export function createReceiptHandlers({ receipts }: { receipts: Receipts }): CallHandler[] {
  return [
    handler(sendReceipt.call, async ({ caller, params: { round_id }, body, added }) => {
      const { hash, received_at } = await receipts.keep(caller, round_id, body, added?.page ?? null)
      return { status: 200, body: { round_id, hash, received_at } }
    }),
    handler(roundReceipt, async ({ caller, roundId }) => ({ receipt: await receipts.find(caller, roundId) })),
  ]
}
