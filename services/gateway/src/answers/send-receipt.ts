import { receiptCreateSchema, type ServedPage } from '@pitboss/contracts/objects/receipt'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import type { ForwardCall } from '../routes/route-entry.ts'
import { callService } from './forward.ts'
import { servedPage } from './pages.ts'

/**
 * `POST /v1/game/rounds/{round_id}/receipt`: the receipt, and which of the pages that this gateway serves has
 * sent it. Source: docs/contract.md, section 4, "Receipts".
 */
export function sendReceipt(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { build } = receiptCreateSchema.parse(inbound.body)
    const added: ServedPage = { page: await servedPage(deps.pages, build) }
    const { status, body } = await callService(deps, call, inbound, added)
    return { status, json: body }
  }
}
