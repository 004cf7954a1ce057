import type * as z from 'zod/mini'
import { ApiError } from './api-error.ts'
import {
  checkedSessionSchema,
  errorSchema,
  receiptSchema,
  type Round,
  roundSchema,
  roundsPageSchema,
  type Sitting,
  sittingSchema,
} from './records.ts'

/** Longer than the 18 s which a call that waits for the wallet may take. */
const answerWithinMs = 25_000

export type PlayRequest = {
  readonly stake: string
  readonly bet: Readonly<Record<string, unknown>>
  readonly client_seed: string | null
  readonly free_bet: boolean
  /** Ours, so that a repeat after a lost answer is the same bet. */
  readonly transaction_id: string
}

/** The player's answer to a reality check. */
export type CheckChoice = 'continue' | 'stop'

/** What the page showed of a round's end. Source: docs/contract.md, section 4, "Receipts". */
type Receipt = {
  readonly build: string
  readonly language: string
  readonly text_version: number
  readonly text: string
  readonly hash: string
}

export type GameApi = {
  sitting(): Promise<Sitting>
  play(request: PlayRequest): Promise<Round>
  round(roundId: string): Promise<Round>
  rounds(cursor: string | null): Promise<{ data: Round[]; next_cursor: string | null }>
  reveal(roundId: string, tile: number): Promise<Round>
  cashOut(roundId: string): Promise<Round>
  answerCheck(choice: CheckChoice): Promise<unknown>
  receipt(roundId: string, receipt: Receipt): Promise<unknown>
}

/** The player's side of the service, for one launch token. Every method throws ApiError. */
export function createGameApi(token: string): GameApi {
  async function ask<Schema extends z.ZodMiniType>(
    schema: Schema,
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<z.output<Schema>> {
    const response = await fetch(`/v1/game/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(answerWithinMs),
    }).catch((cause: unknown) => {
      throw new ApiError('NO_ANSWER', 'There was no answer.', { cause })
    })
    const json = await response.json().catch((cause: unknown) => {
      throw new ApiError('NO_ANSWER', 'The answer broke off.', { cause })
    })
    if (!response.ok) throw toApiError(json, response)
    const parsed = schema.safeParse(json)
    if (!parsed.success) throw new ApiError('UNREADABLE_ANSWER', 'The answer could not be read.')
    return parsed.data
  }

  const pathOf = (roundId: string) => `rounds/${encodeURIComponent(roundId)}`
  return {
    sitting: () => ask(sittingSchema, 'GET', 'session'),
    play: (request) => ask(roundSchema, 'POST', 'rounds', request),
    round: (roundId) => ask(roundSchema, 'GET', pathOf(roundId)),
    rounds: (cursor) =>
      ask(
        roundsPageSchema,
        'GET',
        `rounds?limit=20${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      ),
    reveal: (roundId, tile) => ask(roundSchema, 'POST', `${pathOf(roundId)}/reveal`, { tile }),
    cashOut: (roundId) => ask(roundSchema, 'POST', `${pathOf(roundId)}/cashout`),
    answerCheck: (choice) => ask(checkedSessionSchema, 'POST', 'session/reality-check', { choice }),
    receipt: (roundId, receipt) => ask(receiptSchema, 'POST', `${pathOf(roundId)}/receipt`, receipt),
  }
}

function toApiError(json: unknown, response: Response): ApiError {
  const parsed = errorSchema.safeParse(json)
  if (!parsed.success) return new ApiError('UNREADABLE_ANSWER', `Status ${response.status}.`)
  const { code, message, request_id: requestId, resource } = parsed.data
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(code, message, {
    requestId,
    roundId: resource?.round_id ?? null,
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
  })
}
