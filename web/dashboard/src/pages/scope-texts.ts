import { scopeName } from '@pitboss/contracts/objects/account'

/** What each scope lets a server do, in plain words. Source: docs/contract.md, section 2. */
export const scopeTexts: Readonly<Record<(typeof scopeName.options)[number], string>> = {
  'sessions:read': 'Look at sessions',
  'sessions:write': 'Open sessions for players and close them',
  'transactions:read': 'Look at movements and wallet calls',
  'transactions:write': 'Place stakes and wins of its own, void rounds',
  'games:read': 'Look at the games and their limits',
  'games:write': 'Switch games on and off, change limits',
  'history:read': 'Look at rounds',
  'history:write': 'Look at rounds (there is nothing to write yet)',
  'engagement:read': 'Look at free bets',
  'engagement:write': 'Give free bets and cancel them',
  'events:read': 'Read events and deliveries',
  'reports:read': 'Read reports',
}

/** "no limits", or the scopes. */
export function scopesText(scopes: readonly string[]): string {
  return scopes.length === 0 ? 'everything' : scopes.join(', ')
}
