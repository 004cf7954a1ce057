import { ServiceError } from '@pitboss/errors/service-error'

type LiveSwitches = {
  readonly plan: 'free' | 'paid'
  readonly approved: boolean
  readonly live_play: 'on' | 'off' | 'suspended'
  readonly platform_real_money: boolean
}

/**
 * Refuses new real-money play that the account may not have; test play always may. What is under way is never asked.
 * @throws ServiceError FORBIDDEN (names the plan), OPERATOR_NOT_LIVE, REAL_MONEY_DISABLED (says which switch). Contract section 3.
 */
export function assertRealMoney(environment: 'SANDBOX' | 'LIVE', account: LiveSwitches): void {
  if (environment !== 'LIVE') return
  if (account.plan !== 'paid') {
    throw new ServiceError('FORBIDDEN', {
      message: 'Live play needs the paid plan; this account is on the free plan.',
    })
  }
  if (!account.approved) {
    throw new ServiceError('FORBIDDEN', {
      message: 'Live play needs an approved account; this account is on the paid plan but not approved yet.',
    })
  }
  if (account.live_play === 'suspended') throw new ServiceError('OPERATOR_NOT_LIVE')
  if (!account.platform_real_money) {
    throw new ServiceError('REAL_MONEY_DISABLED', {
      message: 'Real-money play is switched off on the whole platform.',
    })
  }
  if (account.live_play === 'off') {
    throw new ServiceError('REAL_MONEY_DISABLED', {
      message: 'Real-money play is switched off on this account.',
    })
  }
}
