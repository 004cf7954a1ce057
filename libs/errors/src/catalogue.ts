/**
 * One row of the public error table. `status` is the HTTP status; `remedy` is what a developer should do
 * next.
 */
type CatalogueRow = {
  readonly status: number
  readonly retryable: boolean
  readonly message: string
  readonly remedy: string
}

const row = (status: number, retryable: boolean, message: string, remedy: string): CatalogueRow => ({
  status,
  retryable,
  message,
  remedy,
})

/**
 * Every error that the product answers with, keyed by its public code.
 * Source: docs/contract.md, section 1. A status or a retryable flag is written nowhere else.
 */
export const errorCatalogue = {
  UNAUTHORIZED: row(
    401,
    false,
    'The Authorization header is missing or malformed.',
    'Send "Authorization: Bearer <ACCESS_TOKEN>".',
  ),
  INVALID_CREDENTIALS: row(
    401,
    false,
    'The credentials or the token did not verify.',
    'Check the key pair or mint a new token.',
  ),
  TOKEN_EXPIRED: row(401, false, 'The token has expired.', 'Mint a new token, then repeat the request.'),
  INVALID_SIGNATURE: row(
    401,
    false,
    'The signature did not verify.',
    'Sign timestamp + "." + the raw body with the current secret.',
  ),
  IP_NOT_ALLOWED: row(
    403,
    false,
    'The source address is not on the allowlist.',
    'Call from an allowed address or change the allowlist.',
  ),
  FORBIDDEN: row(
    403,
    false,
    'Your role or plan does not permit this action.',
    'Ask an owner of the account or upgrade the plan.',
  ),
  INSUFFICIENT_SCOPE: row(
    403,
    false,
    'The token does not cover this route.',
    'Use a token with the audience and scope that the message names.',
  ),
  OPERATOR_SUSPENDED: row(403, false, 'The account is suspended.', 'Contact support.'),
  OPERATOR_NOT_LIVE: row(
    403,
    false,
    'Real-money play is suspended on this account.',
    'Contact support, or use the test environment.',
  ),
  REAL_MONEY_DISABLED: row(
    403,
    false,
    'Real-money play is switched off.',
    'The message says which switch is off.',
  ),
  BRAND_NOT_FOUND: row(
    404,
    false,
    'There is no such brand on this account.',
    'List the brands in the dashboard.',
  ),
  PLAYER_BLOCKED: row(403, false, 'The wallet refused this player.', 'Check the player in your own system.'),
  VALIDATION_ERROR: row(422, false, 'The request is not valid.', 'Mend the fields that "details" names.'),
  CURRENCY_NOT_SUPPORTED: row(
    422,
    false,
    'The currency is not enabled on this account.',
    'Add it with PATCH /v1/business.',
  ),
  CURRENCY_MISMATCH: row(
    422,
    false,
    'The currency differs from the currency of the session.',
    'Use the currency of the session.',
  ),
  INSUFFICIENT_FUNDS: row(
    402,
    false,
    'The balance is below the stake; nothing moved.',
    'Offer the player a smaller stake or a deposit.',
  ),
  BET_LIMIT_EXCEEDED: row(
    422,
    false,
    'The stake is outside the limits of this game.',
    'Stay between min_stake, max_stake and max_payout of the game.',
  ),
  TRANSACTION_CONFLICT: row(
    409,
    false,
    'This transaction_id was used with a different body; nothing moved.',
    'Use a new transaction_id for a new movement.',
  ),
  TRANSACTION_NOT_FOUND: row(
    404,
    false,
    'There is no movement with this id on the account.',
    'Check the transaction_id and the environment.',
  ),
  TRANSACTION_ALREADY_REVERSED: row(
    409,
    false,
    'The movement has been refunded or rolled back already.',
    'Nothing is left to do.',
  ),
  WALLET_TIMEOUT: row(
    504,
    true,
    'The wallet did not answer in time; the movement is pending.',
    'Repeat with the same transaction_id, or look at it.',
  ),
  WALLET_UNAVAILABLE: row(
    503,
    true,
    'The wallet could not be reached.',
    'Repeat with the same transaction_id.',
  ),
  WALLET_REJECTED: row(502, false, 'The wallet refused the movement.', 'See wallet_code on the movement.'),
  WALLET_NOT_CONFIGURED: row(
    503,
    false,
    'No wallet is configured for this environment.',
    'Configure the wallet of this environment in the dashboard.',
  ),
  GAME_NOT_FOUND: row(404, false, 'There is no such game.', 'GET /v1/games lists the catalogue.'),
  GAME_NOT_ENABLED: row(
    403,
    false,
    'The game is switched off for this account.',
    'Switch it on with PATCH /v1/games/{slug}.',
  ),
  GAME_UNAVAILABLE: row(
    503,
    false,
    'The game is down for everybody at the moment.',
    'Offer another game meanwhile.',
  ),
  SESSION_NOT_FOUND: row(
    404,
    false,
    'There is no such session.',
    'Check the session_id and the environment.',
  ),
  SESSION_EXPIRED: row(410, false, 'The session has expired.', 'Create a new session.'),
  SESSION_CLOSED: row(410, false, 'The session is closed.', 'Create a new session.'),
  ROUND_NOT_FOUND: row(404, false, 'There is no such round.', 'Check the round_id and the environment.'),
  ROUND_IN_PROGRESS: row(
    409,
    false,
    'A round of this player in this game is not over yet.',
    'Finish it, or void it if its stake was never taken.',
  ),
  ROUND_ALREADY_SETTLED: row(409, false, 'The round is over.', 'Read it with GET /v1/rounds/{roundId}.'),
  RATE_LIMITED: row(429, true, 'Too many requests.', 'Wait as long as Retry-After says, with some jitter.'),
  NOT_FOUND: row(404, false, 'There is nothing here.', 'Check the path, the method and the id.'),
  CONFLICT: row(
    409,
    false,
    'This conflicts with what exists already.',
    'The message says what is in the way.',
  ),
  INTERNAL_ERROR: row(
    500,
    true,
    'Something went wrong on our side.',
    'Repeat; if it persists, quote the request id.',
  ),
  SERVICE_UNAVAILABLE: row(503, true, 'Briefly unable to serve this request.', 'Repeat as Retry-After says.'),
} as const satisfies Record<string, CatalogueRow>

/** A public error code. Source: docs/contract.md, section 1. */
export type ErrorCode = keyof typeof errorCatalogue

/** Whether `text` is a code of the catalogue. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCatalogue, text)
}
