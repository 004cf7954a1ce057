import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { placeTransaction as endpoint } from '@pitboss/contracts/endpoints/rounds'
import type { createPlaceTransaction } from '../actions/place-transaction.ts'

/** The one writing route of movements; their reads are wallet-bridge's. */
export function createTransactionHandlers({
  placeTransaction,
}: {
  placeTransaction: ReturnType<typeof createPlaceTransaction>
}): CallHandler[] {
  return [handler(endpoint.call, ({ caller, body }, context) => placeTransaction(caller, body, context))]
}
