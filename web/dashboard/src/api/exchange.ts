import * as z from 'zod'
import { ApiError } from './api-error.ts'

/** Longer than the 60 s that the check of a wallet may take. */
const answerWithinMs = 65_000
/** Longer than a ledger may take to arrive. */
const fileAnswerWithinMs = 6 * 60_000

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  request_id: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).nullish(),
})

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Outgoing = {
  /** Sent as JSON; a blob as it is, with its type. */
  readonly body?: unknown
  readonly token?: string | null
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** What an answer of this shape holds; nothing where there is no schema. */
export type AnswerOf<Schema extends z.ZodType | null> = Schema extends z.ZodType ? z.output<Schema> : null

/**
 * One exchange with the API below `/v1`. `schema` is null for an answer without a body. Fields that the
 * schema does not know yet are no fault.
 * @throws ApiError
 */
export async function exchange<Schema extends z.ZodType | null>(
  schema: Schema,
  method: Method,
  path: string,
  { body, token = null, idempotencyKey, signal }: Outgoing = {},
): Promise<AnswerOf<Schema>> {
  const isFile = body instanceof Blob
  const timeout = AbortSignal.timeout(isFile ? fileAnswerWithinMs : answerWithinMs)
  const response = await fetch(`/v1/${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': isFile ? body.type : 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
    cache: 'no-store',
    credentials: 'same-origin',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((cause: unknown) => {
    throw noAnswer(cause, signal)
  })
  const text = await response.text().catch((cause: unknown) => {
    throw noAnswer(cause, signal)
  })
  if (!response.ok) throw toApiError(text, response)
  // Safe: a null schema and a null answer go together.
  if (schema === null) return null as never
  const json = parseJson(text)
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data as never
  // Safe: every field that the schema knows was found to be as it says.
  if (parsed.error.issues.every(({ code }) => code === 'unrecognized_keys')) return json as never
  throw new ApiError('UNREADABLE_ANSWER', 'The answer could not be read.', {
    requestId: response.headers.get('x-request-id'),
  })
}

/** Opens a stream below `/v1`. @throws ApiError */
export async function openStream(
  path: string,
  token: string | null,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(`/v1/${path}`, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    cache: 'no-store',
    credentials: 'same-origin',
    signal,
  }).catch((cause: unknown) => {
    throw noAnswer(cause, signal)
  })
  if (!response.ok) throw toApiError(await response.text(), response)
  if (response.body === null) throw new ApiError('UNREADABLE_ANSWER', 'The answer has no body.')
  return response.body
}

function noAnswer(cause: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted === true ? cause : new ApiError('NO_ANSWER', 'There was no answer.', { cause })
}

/** Text that is no JSON is null, which no schema of an answer takes. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function toApiError(text: string, response: Response): ApiError {
  const parsed = errorSchema.safeParse(parseJson(text))
  const requestId = response.headers.get('x-request-id')
  if (!parsed.success)
    return new ApiError('UNREADABLE_ANSWER', `The answer has status ${response.status}.`, { requestId })
  const { code, message, retryable, request_id, details } = parsed.data
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(code, message, {
    retryable,
    requestId: request_id,
    details: details ?? [],
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
  })
}
