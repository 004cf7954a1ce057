import type { Account } from '@pitboss/contracts/caller'

/** An account for tests: paid, approved and live, without brands. Source: ours. */
export function sampleAccount(operatorId: string, more: Partial<Account> = {}): Account {
  return {
    operator_id: operatorId,
    name: 'Acme',
    plan: 'paid',
    approved: true,
    suspended: false,
    live_play: 'on',
    live_status: 'APPROVED',
    platform_real_money: true,
    currencies: ['EUR'],
    timezone: 'UTC',
    brands: [],
    ...more,
  }
}
