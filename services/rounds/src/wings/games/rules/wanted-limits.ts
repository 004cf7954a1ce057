import type { opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import type { Account } from '@pitboss/contracts/caller'
import type { patchGame } from '@pitboss/contracts/endpoints/sessions'
import { invalidField, readAll } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import type { z } from 'zod'
import {
  allowedLimits,
  assertCurrency,
  type ChangedLimits,
  type Granted,
  type Limits,
  readAmount,
} from '../../../rules/limits.ts'

type Patches = NonNullable<GamePatch['limits']>
export type GamePatch = z.output<typeof patchGame.call.request>['body']

type WantedLimits = NonNullable<z.output<typeof opsSetGameLimits.request>['limits']>

/** Reads wanted limits; omitted parts stay. @throws ServiceError VALIDATION_ERROR naming the path */
export function readWantedLimits(wanted: WantedLimits, now: Limits, currency: string): Limits {
  const { min_stake, max_stake, max_payout } = wanted
  const read = (text: string | undefined, present: bigint, path: string) =>
    text === undefined ? present : readAmount(text, currency, path)
  const minStake = read(min_stake, now.minStake, 'min_stake')
  const maxStake = read(max_stake, now.maxStake, 'max_stake')
  const maxPayout = read(max_payout, now.maxPayout, 'max_payout')
  if (minStake === 0n) throw invalidField('min_stake', 'must be above zero')
  if (minStake > maxStake) throw invalidField('min_stake', 'must not be above max_stake')
  if (maxPayout <= minStake) throw invalidField('max_payout', 'must be above min_stake')
  return { minStake, maxStake, maxPayout }
}

/** Reads a patch, inside what is allowed. @throws ServiceError CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR */
export function readPatchLimits(account: Account, settings: Granted, limits: Patches): ChangedLimits[] {
  const reads = limits.map(({ currency, min_stake, max_stake, max_payout }, position) => () => {
    const path = `limits.${position}`
    assertCurrency(currency, account, `${path}.currency`)
    if (limits.findIndex((one) => one.currency === currency) !== position) {
      throw invalidField(`${path}.currency`, 'is given twice')
    }
    const minStake = readAmount(min_stake, currency, `${path}.min_stake`)
    const maxStake = readAmount(max_stake, currency, `${path}.max_stake`)
    const maxPayout =
      max_payout === undefined ? undefined : readAmount(max_payout, currency, `${path}.max_payout`)
    const platform = allowedLimits(settings, currency)
    if (platform === null) throw invalidField(`${path}.currency`, 'is not a currency')
    const beyond = (field: string, side: 'above' | 'below', bound: bigint) =>
      invalidField(`${path}.${field}`, `must not be ${side} the platform's ${formatAmount(bound, currency)}`)
    if (minStake < platform.minStake) throw beyond('min_stake', 'below', platform.minStake)
    if (maxStake > platform.maxStake) throw beyond('max_stake', 'above', platform.maxStake)
    if (minStake > maxStake) throw invalidField(`${path}.min_stake`, 'must not be above max_stake')
    if (maxPayout === undefined) return { currency, minStake, maxStake }
    if (maxPayout > platform.maxPayout) throw beyond('max_payout', 'above', platform.maxPayout)
    if (maxPayout <= minStake) throw invalidField(`${path}.max_payout`, 'must be above min_stake')
    return { currency, minStake, maxStake, maxPayout: maxPayout === platform.maxPayout ? null : maxPayout }
  })
  return readAll(...reads)
}
