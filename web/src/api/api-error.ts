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
    {
      requestId = null,
      roundId = null,
      retryAfterS = null,
      cause,
    }: {
      requestId?: string | null
      roundId?: string | null
      retryAfterS?: number | null
      cause?: unknown
    } = {},
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
