import type { Caller } from '@pitboss/contracts/caller'
import { sampleAccount } from '@pitboss/testing/sample-account'
import { sampleCaller } from '@pitboss/testing/sample-caller'

/** The owner of an operator that never was, as the gateway would tell of them. */
export function ownerOf(operatorId: string): Caller {
  return sampleCaller(
    { operatorId, environment: 'SANDBOX' },
    { kind: 'credential', api_key: 'benchmark', scopes: [] },
    { account: sampleAccount(operatorId, { currencies: ['USD'] }) },
  )
}
