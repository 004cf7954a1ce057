import type { Caller } from '@pitboss/contracts/caller'

/** The owner of an operator that never was, as the gateway would tell of them. */
export function ownerOf(operatorId: string): Caller {
  return {
    scope: { operatorId, environment: 'SANDBOX' },
    eitherEnvironment: false,
    account: {
      operator_id: operatorId,
      name: 'Benchmark',
      plan: 'paid',
      approved: true,
      suspended: false,
      live_play: 'on',
      live_status: 'APPROVED',
      platform_real_money: true,
      currencies: ['USD'],
      timezone: 'UTC',
      brands: [],
    },
    actor: { kind: 'credential', api_key: 'benchmark', scopes: [] },
    idempotencyKey: null,
    clientAddress: '127.0.0.1',
  }
}
