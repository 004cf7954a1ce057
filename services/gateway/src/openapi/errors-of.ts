import type { ErrorCode } from '@pitboss/errors/catalogue'
import type { RouteEntry } from '../routes/route-entry.ts'

const liveSwitches: readonly ErrorCode[] = ['OPERATOR_NOT_LIVE', 'REAL_MONEY_DISABLED', 'FORBIDDEN']
const walletAnswers: readonly ErrorCode[] = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_TIMEOUT',
  'WALLET_UNAVAILABLE',
  'WALLET_REJECTED',
  'WALLET_NOT_CONFIGURED',
]
const closedSession: readonly ErrorCode[] = ['SESSION_EXPIRED', 'SESSION_CLOSED']
const gameStates: readonly ErrorCode[] = ['GAME_NOT_FOUND', 'GAME_NOT_ENABLED', 'GAME_UNAVAILABLE']

/** Errors of single routes beyond those that follow from the route's rules. */
const special: Readonly<Record<string, readonly ErrorCode[]>> = {
  'POST /v1/auth/token': [
    'INVALID_CREDENTIALS',
    'IP_NOT_ALLOWED',
    'OPERATOR_SUSPENDED',
    'FORBIDDEN',
    'RATE_LIMITED',
  ],
  'POST /v1/dashboard/login': ['INVALID_CREDENTIALS', 'OPERATOR_SUSPENDED', 'RATE_LIMITED'],
  'POST /v1/dashboard/refresh': ['INVALID_CREDENTIALS', 'OPERATOR_SUSPENDED'],
  'POST /v1/dashboard/invitations/accept': ['INVALID_CREDENTIALS'],
  'POST /v1/public/wallet-callbacks/{operator_id}/{environment}': [
    'INVALID_SIGNATURE',
    'TRANSACTION_NOT_FOUND',
    'NOT_FOUND',
  ],
  'POST /v1/sessions': [
    ...gameStates,
    ...liveSwitches,
    'BRAND_NOT_FOUND',
    'CURRENCY_NOT_SUPPORTED',
    'WALLET_NOT_CONFIGURED',
    'CONFLICT',
  ],
  'POST /v1/transactions': [
    ...liveSwitches,
    ...gameStates,
    ...closedSession,
    ...walletAnswers,
    'SESSION_NOT_FOUND',
    'ROUND_NOT_FOUND',
    'CURRENCY_NOT_SUPPORTED',
    'TRANSACTION_NOT_FOUND',
    'TRANSACTION_CONFLICT',
    'TRANSACTION_ALREADY_REVERSED',
    'ROUND_IN_PROGRESS',
    'ROUND_ALREADY_SETTLED',
    'CONFLICT',
  ],
  'POST /v1/rounds/{round_id}/void': ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  'POST /v1/free-bets': [...gameStates, 'CURRENCY_NOT_SUPPORTED', 'BET_LIMIT_EXCEEDED', 'CONFLICT'],
  'POST /v1/free-bets/{grant_id}/cancel': ['CONFLICT'],
  'PATCH /v1/games/{slug}': ['CURRENCY_NOT_SUPPORTED'],
  'PATCH /v1/dashboard/games/{slug}': ['CURRENCY_NOT_SUPPORTED'],
  'PATCH /v1/business': ['CONFLICT'],
  'POST /v1/game/rounds': [
    ...liveSwitches,
    ...gameStates,
    ...closedSession,
    ...walletAnswers,
    'CURRENCY_NOT_SUPPORTED',
    'ROUND_IN_PROGRESS',
    'TRANSACTION_CONFLICT',
  ],
  'POST /v1/game/rounds/{round_id}/reveal': ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  'POST /v1/game/rounds/{round_id}/cashout': ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  'POST /v1/dashboard/me/password': ['INVALID_CREDENTIALS'],
  'POST /v1/dashboard/me/totp': ['CONFLICT'],
  'POST /v1/dashboard/me/totp/confirm': ['INVALID_CREDENTIALS', 'CONFLICT'],
  'DELETE /v1/dashboard/me/totp': ['INVALID_CREDENTIALS'],
  'POST /v1/dashboard/users': ['CONFLICT'],
  'PATCH /v1/dashboard/users/{user_id}': ['CONFLICT'],
  'DELETE /v1/dashboard/users/{user_id}': ['CONFLICT'],
  'POST /v1/dashboard/credentials': ['FORBIDDEN', 'CONFLICT'],
  'PATCH /v1/dashboard/credentials/{api_key}': ['FORBIDDEN', 'CONFLICT'],
  'POST /v1/dashboard/credentials/{api_key}/rotate': ['CONFLICT'],
  'POST /v1/dashboard/brands': ['CONFLICT'],
  'POST /v1/dashboard/webhooks': ['CONFLICT'],
  'POST /v1/dashboard/webhooks/{webhook_id}/replay': ['CONFLICT'],
  'POST /v1/dashboard/webhooks/{webhook_id}/replays/{replay_id}/cancel': ['CONFLICT'],
  'POST /v1/dashboard/webhook-deliveries/{delivery_id}/retry': ['CONFLICT'],
  'POST /v1/webhook-deliveries/{delivery_id}/retry': ['CONFLICT'],
}

/** Every error that a route can answer with, each once. */
export function errorsOf(entry: RouteEntry): ErrorCode[] {
  const codes: ErrorCode[] = ['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']
  if (entry.access !== null) {
    codes.push(
      'UNAUTHORIZED',
      'INVALID_CREDENTIALS',
      'TOKEN_EXPIRED',
      'INSUFFICIENT_SCOPE',
      'OPERATOR_SUSPENDED',
    )
    if (entry.access['operator-api'] !== undefined) codes.push('IP_NOT_ALLOWED')
    if (entry.access.dashboard !== undefined) codes.push('FORBIDDEN')
  }
  if (entry.limit === 'counted' || entry.limit === 'body') codes.push('RATE_LIMITED')
  if (entry.path.includes('{')) codes.push(entry.notFound)
  return [...new Set([...codes, ...(special[`${entry.method} ${entry.path}`] ?? [])])]
}
