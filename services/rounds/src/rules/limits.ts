import type { Account } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'
import { multiplyFloor, type Rational, rational } from '@pitboss/money/rational'
import {
  type Jurisdiction,
  profileOf,
  type StakeCap,
  type StakeCapName,
} from '@pitboss/contracts/jurisdictions'
import { leastPayingStake, paidReturn, type StakeAtLimit } from '@pitboss/fairness/returns/paid-return'
import { unitsPerDollar } from './rates.ts'

/** Limits of one game in one currency, in minor units. */
export type Limits = { readonly minStake: bigint; readonly maxStake: bigint; readonly maxPayout: bigint }
export type StakeRange = { readonly minStake: bigint | null; readonly maxStake: bigint | null }
/** The limits that an account has set for itself; `maxPayout` is null where it has set none. */
export type OwnLimits = StakeRange & { readonly maxPayout: bigint | null }
/** `winsMax` bounds the wins of an operator's round; null where the account has not lowered it. */
export type AccountLimits = Limits & { readonly winsMax: bigint | null }

/** Parts to change. `maxPayout`: undefined stays, null follows what is allowed. */
export type ChangedLimits = Omit<Limits, 'maxPayout'> & {
  readonly currency: string
  readonly maxPayout?: bigint | null | undefined
}

/** Least and greatest stake, greatest payout; other currencies follow by value. Source: ours. */
const platformTable: Readonly<Record<string, readonly [string, string, string]>> = {
  USD: ['0.10', '1000', '100000'],
  EUR: ['0.10', '1000', '100000'],
  GBP: ['0.10', '1000', '100000'],
  BTC: ['0.00000100', '0.10000000', '10.00000000'],
  ETH: ['0.00001', '2', '200'],
  LTC: ['0.0001', '10', '1000'],
  USDT: ['0.10', '1000', '100000'],
  USDC: ['0.10', '1000', '100000'],
  FUN: ['0.10', '10000', '1000000'],
  JPY: ['10', '100000', '10000000'],
  KRW: ['100', '1000000', '100000000'],
  VND: ['1000', '20000000', '2000000000'],
  CLP: ['100', '1000000', '100000000'],
  IDR: ['1000', '15000000', '1500000000'],
  INR: ['1', '80000', '8000000'],
}

const dollarLimits = ['0.10', '1000', '100000'] as const

/** The platform's limits in a currency; null for a code that is no currency. Source: docs/limits.md. */
export function platformLimits(currency: string): Limits | null {
  const digits = currencyDigits(currency)
  if (digits === null) return null
  const read = (text: string) => {
    if (currency in platformTable) return parseAmount(text, currency)
    const rate = unitsPerDollar[currency]
    if (rate === undefined) throw new Error(`the table of rates lacks ${currency}`)
    return roundValue(text, rate, digits)
  }
  const [minStake, maxStake, maxPayout] = platformTable[currency] ?? dollarLimits
  return { minStake: read(minStake), maxStake: read(maxStake), maxPayout: read(maxPayout) }
}

export type Granted = { readonly byOperations: ReadonlyMap<string, Limits> }

/** The limits that an account may use: those that operations have set for it, or else the platform's. */
export function allowedLimits({ byOperations }: Granted, currency: string): Limits | null {
  return byOperations.get(currency) ?? platformLimits(currency)
}

/** An account's own limits, brought inside those that it may use. */
export function accountLimits(allowed: Limits, own: OwnLimits | null): AccountLimits {
  if (own === null) return { ...allowed, winsMax: null }
  const { minStake, maxStake, maxPayout } = own
  const within = (stake: bigint) =>
    stake < allowed.minStake ? allowed.minStake : stake > allowed.maxStake ? allowed.maxStake : stake
  const winsMax = maxPayout !== null && maxPayout < allowed.maxPayout ? maxPayout : null
  return {
    minStake: within(minStake ?? allowed.minStake),
    maxStake: within(maxStake ?? allowed.maxStake),
    maxPayout: winsMax ?? allowed.maxPayout,
    winsMax,
  }
}

/** Narrows limits by a range; an end that the range leaves open stays. Source: ours. */
export function narrow<Some extends Limits>(limits: Some, range: StakeRange | null): Some {
  if (range === null) return limits
  const { minStake, maxStake } = range
  return {
    ...limits,
    minStake: minStake !== null && minStake > limits.minStake ? minStake : limits.minStake,
    maxStake: maxStake !== null && maxStake < limits.maxStake ? maxStake : limits.maxStake,
  }
}

/** Whether `stake` is allowed; both ends belong to the range. */
export function isWithin(limits: Limits, stake: bigint): boolean {
  return stake >= limits.minStake && stake <= limits.maxStake
}

/** Reads an amount, in minor units. @throws ServiceError VALIDATION_ERROR at `path` */
export function readAmount(text: string, currency: string, path: string): bigint {
  try {
    return parseAmount(text, currency)
  } catch (error) {
    if (error instanceof AmountError) throw invalidField(path, error.message)
    throw error
  }
}

/** Judges an amount of a known currency before look-ups. @throws ServiceError VALIDATION_ERROR at `path` */
export function judgeAmount(text: string | undefined, currency: string | undefined, path: string): void {
  if (text === undefined || currency === undefined || currencyDigits(currency) === null) return
  readAmount(text, currency, path)
}

type Enabled = Pick<Account, 'currencies'>

/** @param path null where the session names the currency. @throws ServiceError CURRENCY_NOT_SUPPORTED */
export function assertCurrency(currency: string, account: Enabled, path: string | null): void {
  const isKnown = currencyDigits(currency) !== null
  if (isKnown && account.currencies.includes(currency)) return
  const enabled = account.currencies.length === 0 ? 'none' : account.currencies.join(', ')
  const fault = isKnown
    ? `${currency} is not enabled on this account, which has ${enabled}. Add it with PATCH /v1/business.`
    : `${currency} is no currency that can be enabled; this account has ${enabled}.`
  const details = path === null ? [] : [{ path, message: `is not among those enabled: ${enabled}` }]
  throw new ServiceError('CURRENCY_NOT_SUPPORTED', { message: fault, ...(path === null ? {} : { details }) })
}

/** A least stake below so many minor units would lose too much of a win to the cut. Source: ours. */
const leastMinor = 10n

/** The amount of 1, 2 or 5 and zeros nearest in value to dollars (a decimal), in minor units of `digits`. */
export function roundValue(dollars: string, unitsPerDollar: string, digits: number): bigint {
  const [money, rate] = [readDecimal(dollars), readDecimal(unitsPerDollar)]
  const value = rational(money.n * rate.n * 10n ** BigInt(digits), money.d * rate.d)
  let below = 1n
  for (let step = 0; ; step++) {
    const above = step % 3 === 1 ? (below * 5n) / 2n : below * 2n
    // Nearest by ratio: the geometric mean of two neighbours is the border.
    if (value.n * value.n < below * above * value.d * value.d) break
    below = above
  }
  return below < leastMinor ? leastMinor : below
}

function readDecimal(text: string): Rational {
  const [whole = '0', decimals = ''] = text.split('.')
  return rational(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
}

type Capped = { readonly jurisdiction?: Jurisdiction; readonly stakeCap?: StakeCapName }

/** The range that the session's cap leaves; null for none. Source: docs/contract.md, section 4. */
export function capRangeOf(session: Capped): StakeRange | null {
  const cap = capOf(session)
  return cap === null ? null : { minStake: null, maxStake: parseAmount(cap.maxStake, cap.currency) }
}

/** Refuses a stake of `minor` units above the cap, free bets too. @throws ServiceError BET_LIMIT_EXCEEDED */
export function assertWithinCap(session: Capped, stake: bigint): void {
  const cap = capOf(session)
  if (cap === null || stake <= parseAmount(cap.maxStake, cap.currency)) return
  const message = `The greatest stake is ${cap.maxStake} ${cap.currency}: the cap of ${session.jurisdiction} for online slots.`
  throw new ServiceError('BET_LIMIT_EXCEEDED', { message, details: [{ path: 'stake_cap', message }] })
}

/** The cap that a session asks for. @throws ServiceError VALIDATION_ERROR at `stake_cap` */
export function readCap(
  asked: StakeCapName | undefined,
  { jurisdiction, currency }: { readonly jurisdiction: Jurisdiction; readonly currency: string },
): { stakeCap?: StakeCapName } {
  if (asked === undefined) return {}
  const cap = capOf({ jurisdiction, stakeCap: asked })
  if (cap === null) throw invalidField('stake_cap', 'needs a jurisdiction that has this cap')
  if (cap.currency !== currency)
    throw invalidField('stake_cap', `is set in ${cap.currency} alone; in ${currency} use limits.max_stake`)
  return { stakeCap: asked }
}

function capOf({ stakeCap, ...session }: Capped): StakeCap | null {
  return stakeCap === undefined ? null : (profileOf(session).stakeCaps[stakeCap] ?? null)
}

/**
 * Refuses a stake at which no win pays. @param multipliers the smallest first. Source: docs/contract.md,
 * section 4, "Games". @throws ServiceError BET_LIMIT_EXCEEDED, naming the least stake that pays
 */
export function assertPays(
  multipliers: readonly Rational[],
  rtp: Rational,
  currency: string,
  { stake, maxPayout }: StakeAtLimit,
): void {
  if (paidReturn(multipliers, rtp, { stake, maxPayout }) !== null) return
  const paysFrom = leastPayingStake(multipliers)
  const pays = (minor: bigint) =>
    multipliers.some((multiplier) => {
      const payout = multiplyFloor(minor, multiplier)
      return payout > minor && payout <= maxPayout
    })
  if (paysFrom === null || paysFrom <= stake || !pays(paysFrom)) {
    throw new ServiceError('BET_LIMIT_EXCEEDED', {
      message: 'A win would pay more than the greatest payout of this game.',
    })
  }
  const least = `${formatAmount(paysFrom, currency)} ${currency}`
  const message = `A win of this bet would pay no more than its stake. The least stake at which it pays is ${least}.`
  throw new ServiceError('BET_LIMIT_EXCEEDED', { message, details: [{ path: 'stake', message }] })
}
