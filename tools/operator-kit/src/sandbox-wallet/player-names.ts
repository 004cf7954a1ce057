type PlayerRule = {
  readonly meaning: string
  /** Refusal of a new debit. */
  readonly debitCode?: string
  /** Refusal of a balance question. */
  readonly balanceCode?: string
  readonly startingBalance?: string
}

const blocked = (code: string, meaning: string): PlayerRule => ({
  meaning,
  debitCode: code,
  balanceCode: code,
})

/**
 * Player ids which behave in a certain way: the name itself, or the name followed by "-" or "_" and anything.
 */
const playerNames: Readonly<Record<string, PlayerRule>> = {
  blocked: blocked('PLAYER_BLOCKED', 'is blocked'),
  unknown: blocked('PLAYER_NOT_FOUND', 'does not exist'),
  excluded: blocked('SELF_EXCLUDED', 'has excluded themself from play'),
  kyc: blocked('KYC_REQUIRED', 'has to prove who they are first'),
  limited: { meaning: 'has reached a limit of their own', debitCode: 'LIMIT_EXCEEDED' },
  mismatch: { meaning: 'has an account in another currency', debitCode: 'CURRENCY_MISMATCH' },
  broke: { meaning: 'starts with nothing', startingBalance: '0' },
  rich: { meaning: 'starts with 1000000000', startingBalance: '1000000000' },
}

/** The rule that a player's name asks for, or null for an ordinary player. */
export function playerRule(playerId: string): PlayerRule | null {
  const [name = ''] = playerId.split(/[-_]/, 1)
  return Object.hasOwn(playerNames, name) ? (playerNames[name] ?? null) : null
}
