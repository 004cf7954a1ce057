import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { placeTransaction as endpoint } from '@pitboss/contracts/endpoints/rounds'
import type { PlaceTransaction } from '../actions/place-transaction.ts'

/** The route that writes movements; wallet-bridge answers their reads. */
export function createTransactionHandlers({
  placeTransaction,
}: {
  placeTransaction: PlaceTransaction
}): CallHandler[] {
  return [handler(endpoint.call, ({ caller, body }, context) => placeTransaction(caller, body, context))]
}
