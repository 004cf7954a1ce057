import type { Account } from '@pitboss/contracts/caller'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { currencyDigits } from '@pitboss/money/currencies'

/** The most brands that an account has. Source: ours. */
export const brandsMax = 1000
/** The most saved views that an account has. Source: docs/contract.md, section 3. */
export const viewsMax = 200

type Standing = Pick<Account, 'plan' | 'approved'>

/**
 * Live keys need a paid plan and an approved account.
 * Source: docs/contract.md, section 3.
 * @throws ServiceError FORBIDDEN naming the plan
 */
export function requireLivePlan(operator: Standing): void {
  requirePaidAndApproved(operator, 'Live keys need')
}

/** As `requireLivePlan`, for allowlists of either environment. Source: docs/contract.md, section 11. */
export function requireAllowlistPlan(operator: Standing): void {
  requirePaidAndApproved(operator, 'An IP allowlist needs')
}

function requirePaidAndApproved({ plan, approved }: Standing, what: string): void {
  if (plan === 'paid' && approved) return
  const lack = plan === 'paid' ? 'the account is not approved yet' : `this account is on the "${plan}" plan`
  throw new ServiceError('FORBIDDEN', {
    message: `${what} the "paid" plan and an approved account; ${lack}.`,
  })
}

/** @throws ServiceError VALIDATION_ERROR at `currencies.<index>` for an unknown currency */
export function requireKnownCurrency(code: string, index: number): void {
  if (currencyDigits(code) === null) throw invalidField(`currencies.${index}`, 'is not a currency we know')
}

/** @throws ServiceError VALIDATION_ERROR at each `currencies.<index>` that is unknown or repeated */
export function requireCurrencies(codes: readonly string[]): void {
  readAll(
    ...codes.map((code, index) => () => {
      requireKnownCurrency(code, index)
      if (codes.indexOf(code) !== index) throw invalidField(`currencies.${index}`, 'is there twice')
    }),
  )
}

/** Zones that Unicode's data knows by a former name, with the name that IANA gives them since. */
const renamedZones: ReadonlyMap<string, string> = new Map([
  ['Africa/Asmera', 'Africa/Asmara'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Catamarca', 'America/Argentina/Catamarca'],
  ['America/Coral_Harbour', 'America/Atikokan'],
  ['America/Cordoba', 'America/Argentina/Cordoba'],
  ['America/Godthab', 'America/Nuuk'],
  ['America/Indianapolis', 'America/Indiana/Indianapolis'],
  ['America/Jujuy', 'America/Argentina/Jujuy'],
  ['America/Louisville', 'America/Kentucky/Louisville'],
  ['America/Mendoza', 'America/Argentina/Mendoza'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Atlantic/Faeroe', 'Atlantic/Faroe'],
  ['Europe/Kiev', 'Europe/Kyiv'],
  ['Pacific/Enderbury', 'Pacific/Kanton'],
  ['Pacific/Ponape', 'Pacific/Pohnpei'],
  ['Pacific/Truk', 'Pacific/Chuuk'],
])

/**
 * Takes the canonical name of an IANA time zone, letter by letter. Source: docs/contract.md, section 11.
 * @throws ServiceError VALIDATION_ERROR at `timezone`, naming the canonical name of an alias
 */
export function requireTimezone(text: string): void {
  const canonical = canonicalZone(text)
  if (canonical === null)
    throw invalidField('timezone', 'must be the name of an IANA time zone, such as "Europe/Malta"')
  if (canonical !== text) throw invalidField('timezone', `must be written "${canonical}"`)
}

function canonicalZone(text: string): string | null {
  // Offsets such as +05:30 are time zones for JavaScript alone.
  if (!/^[A-Za-z]/.test(text)) return null
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
    return renamedZones.get(zone) ?? zone
  } catch {
    return null
  }
}
