import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { walletCallback } from '@pitboss/contracts/calls/wallet'
import type { TakeCallback } from '../actions/take-callback.ts'

/**
 * The call with which the gateway hands on a wallet's signed callback. Source: docs/contract.md, section 11.
 */
export function callbackCalls({ takeCallback }: { takeCallback: TakeCallback }): CallHandler[] {
  return [
    handler(walletCallback, async (request, { requestId }) => {
      await takeCallback(request, requestId)
      return null
    }),
  ]
}
