/** One row of the public error table: HTTP status, and as `remedy` what a developer should do next. */
type CatalogueRow = {
  readonly status: number
  readonly retryable: boolean
  readonly message: string
  readonly remedy: string
}

/** An answer that stays the same however often the request is repeated. */
const definite = (status: number, message: string, remedy: string): CatalogueRow => ({
  status,
  retryable: false,
  message,
  remedy,
})

/** An answer that a repeat of the same request may change. */
const retryable = (status: number, message: string, remedy: string): CatalogueRow => ({
  status,
  retryable: true,
  message,
  remedy,
})

/**
 * Every error that the product answers with, keyed by its public code.
 * Source: docs/contract.md, section 1. A status or a retryable flag is written nowhere else.
 */
export const errorCatalogue = {
  UNAUTHORIZED: definite(
    401,
    'The Authorization header is missing or malformed.',
    'Send "Authorization: Bearer <ACCESS_TOKEN>".',
  ),
  INVALID_CREDENTIALS: definite(
    401,
    'The credentials or the token did not verify.',
    'Check the key pair or mint a new token.',
  ),
  TOKEN_EXPIRED: definite(401, 'The token has expired.', 'Mint a new token, then repeat the request.'),
  INVALID_SIGNATURE: definite(
    401,
    'The signature did not verify.',
    'Sign timestamp + "." + the raw body with the current secret.',
  ),
  IP_NOT_ALLOWED: definite(
    403,
    'The source address is not on the allowlist.',
    'Call from an allowed address or change the allowlist.',
  ),
  FORBIDDEN: definite(
    403,
    'Your role or plan does not permit this action.',
    'Ask an owner of the account or upgrade the plan.',
  ),
  INSUFFICIENT_SCOPE: definite(
    403,
    'The token does not cover this route.',
    'Use a token with the audience and scope that the message names.',
  ),
  OPERATOR_SUSPENDED: definite(403, 'The account is suspended.', 'Contact support.'),
  OPERATOR_NOT_LIVE: definite(
    403,
    'Real-money play is suspended on this account.',
    'Contact support, or use the test environment.',
  ),
  REAL_MONEY_DISABLED: definite(
    403,
    'Real-money play is switched off.',
    'The message says which switch is off.',
  ),
  BRAND_NOT_FOUND: definite(
    404,
    'There is no such brand on this account.',
    'List the brands in the dashboard.',
  ),
  PLAYER_BLOCKED: definite(403, 'The wallet refused this player.', 'Check the player in your own system.'),
  VALIDATION_ERROR: definite(422, 'The request is not valid.', 'Mend the fields that "details" names.'),
  CURRENCY_NOT_SUPPORTED: definite(
    422,
    'The currency is not enabled on this account.',
    'Add it with PATCH /v1/business.',
  ),
  CURRENCY_MISMATCH: definite(
    422,
    'The currency differs from the currency of the session.',
    'Use the currency of the session.',
  ),
  INSUFFICIENT_FUNDS: definite(
    402,
    'The balance is below the stake; nothing moved.',
    'Offer the player a smaller stake or a deposit.',
  ),
  BET_LIMIT_EXCEEDED: definite(
    422,
    'The stake is outside the limits of this game.',
    'Stay between min_stake, max_stake and max_payout of the game.',
  ),
  TRANSACTION_CONFLICT: definite(
    409,
    'This transaction_id was used with a different body; nothing moved.',
    'Use a new transaction_id for a new movement.',
  ),
  TRANSACTION_NOT_FOUND: definite(
    404,
    'There is no movement with this id on the account.',
    'Check the transaction_id and the environment.',
  ),
  TRANSACTION_ALREADY_REVERSED: definite(
    409,
    'The movement has been refunded or rolled back already.',
    'Nothing is left to do.',
  ),
  WALLET_TIMEOUT: retryable(
    504,
    'The wallet did not answer in time; the movement is pending.',
    'Repeat with the same transaction_id, or look at it.',
  ),
  WALLET_UNAVAILABLE: retryable(
    503,
    'The wallet could not be reached.',
    'Repeat with the same transaction_id.',
  ),
  WALLET_REJECTED: definite(502, 'The wallet refused the movement.', 'See wallet_code on the movement.'),
  WALLET_NOT_CONFIGURED: definite(
    503,
    'No wallet is configured for this environment.',
    'Configure the wallet of this environment in the dashboard.',
  ),
  GAME_NOT_FOUND: definite(404, 'There is no such game.', 'GET /v1/games lists the catalogue.'),
  GAME_NOT_ENABLED: definite(
    403,
    'The game is switched off for this account.',
    'Switch it on with PATCH /v1/games/{slug}.',
  ),
  GAME_UNAVAILABLE: definite(
    503,
    'The game is down for everybody at the moment.',
    'Offer another game meanwhile.',
  ),
  SESSION_NOT_FOUND: definite(404, 'There is no such session.', 'Check the session_id and the environment.'),
  SESSION_EXPIRED: definite(410, 'The session has expired.', 'Create a new session.'),
  SESSION_CLOSED: definite(410, 'The session is closed.', 'Create a new session.'),
  ROUND_NOT_FOUND: definite(404, 'There is no such round.', 'Check the round_id and the environment.'),
  ROUND_IN_PROGRESS: definite(
    409,
    'A round of this player in this game is not over yet.',
    'Finish it, or void it if its stake was never taken.',
  ),
  ROUND_ALREADY_SETTLED: definite(409, 'The round is over.', 'Read it with GET /v1/rounds/{roundId}.'),
  RATE_LIMITED: retryable(429, 'Too many requests.', 'Wait as long as Retry-After says, with some jitter.'),
  NOT_FOUND: definite(404, 'There is nothing here.', 'Check the path, the method and the id.'),
  CONFLICT: definite(409, 'This conflicts with what exists already.', 'The message says what is in the way.'),
  APPROVAL_NEEDED: definite(
    409,
    'Nothing was done yet: a second person has to approve it.',
    'Ask another OWNER or ADMIN to approve it in the dashboard within 24 hours.',
  ),
  INTERNAL_ERROR: retryable(
    500,
    'Something went wrong on our side.',
    'Repeat; if it persists, quote the request id.',
  ),
  SERVICE_UNAVAILABLE: retryable(503, 'Briefly unable to serve this request.', 'Repeat as Retry-After says.'),
} as const satisfies Record<string, CatalogueRow>

/** A public error code. Source: docs/contract.md, section 1. */
export type ErrorCode = keyof typeof errorCatalogue

/** Whether `text` is a code of the catalogue. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCatalogue, text)
}
