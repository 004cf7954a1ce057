type Circumstances = {
  requestId?: string | null
  roundId?: string | null
  retryAfterS?: number | null
  cause?: unknown
}

/**
 * An answer that is an error, or no answer. `code` is the service's own, NO_ANSWER or UNREADABLE_ANSWER;
 * `roundId` is the round that a wallet error leaves behind.
 */
export class ApiError extends Error {
  readonly code: string
  readonly requestId: string | null
  readonly roundId: string | null
  readonly retryAfterS: number | null

  constructor(
    code: string,
    message: string,
    { requestId = null, roundId = null, retryAfterS = null, cause }: Circumstances = {},
  ) {
    super(message, { cause })
    this.name = 'ApiError'
    this.code = code
    this.requestId = requestId
    this.roundId = roundId
    this.retryAfterS = retryAfterS
  }
}

/** The error as an ApiError; anything else is a fault of the page and is thrown on. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

const tokenCodes = new Set(['UNAUTHORIZED', 'INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INSUFFICIENT_SCOPE'])

/** The launch token does not open this table (any more). */
export function isTokenError({ code }: ApiError): boolean {
  return tokenCodes.has(code)
}

const texts: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: 'Your balance is too low for this stake. Nothing was taken.',
  BET_LIMIT_EXCEEDED: 'This stake is outside the limits of the game. Nothing was taken.',
  PLAYER_BLOCKED: 'Your casino does not let this account play at the moment. Nothing was taken.',
  WALLET_REJECTED: 'Your casino refused this bet. Nothing was taken.',
  WALLET_UNAVAILABLE: "Your casino's wallet cannot be reached right now. Nothing was taken.",
  WALLET_NOT_CONFIGURED: 'This casino has no wallet connected to the game yet. Nothing was taken.',
  CURRENCY_MISMATCH: 'Your account does not play in this currency. Nothing was taken.',
  GAME_NOT_ENABLED: 'Your casino has switched this game off.',
  GAME_UNAVAILABLE: 'This game is down for everybody at the moment.',
  OPERATOR_SUSPENDED: 'This casino cannot offer games at the moment.',
  OPERATOR_NOT_LIVE: 'This casino cannot offer real-money play at the moment.',
  REAL_MONEY_DISABLED: 'Real-money play is switched off at the moment.',
  FORBIDDEN: 'This casino cannot offer this game at the moment.',
  ROUND_IN_PROGRESS: 'Another round of yours is not over yet; here it is.',
  ROUND_ALREADY_SETTLED: 'This round is over already; here is how it ended.',
  CONFLICT: 'A reality check is due before the next game. Nothing was taken.',
  RATE_LIMITED: 'That was too quick. Wait a moment, then go on.',
  SERVICE_UNAVAILABLE: 'The game is very busy right now. Try again in a moment.',
  NO_ANSWER: 'The connection was lost. Check it, then try again.',
}

const ofPlayer = 'of this player'
const ofLaw = 'The greatest stake is '

/** Text of an error for a player; unknown codes quote the request so that support can look. */
export function errorText({ code, message, requestId }: ApiError): string {
  // The service names the limit, and how much of it is left until when.
  if (code === 'BET_LIMIT_EXCEEDED' && message.includes(ofPlayer)) {
    return `${message.replace(ofPlayer, 'that was set for you')} Nothing was taken.`
  }
  if (code === 'BET_LIMIT_EXCEEDED' && message.startsWith(ofLaw)) return `${message} Nothing was taken.`
  const known = texts[code]
  if (known !== undefined) return known
  if (code === 'VALIDATION_ERROR') return `This bet is not valid: ${message}`
  return `Something went wrong on our side.${requestId === null ? '' : ` Reference: ${requestId}`}`
}
