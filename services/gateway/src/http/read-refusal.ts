import { type ErrorCode, isErrorCode } from '@pitboss/errors/catalogue'
import { answerCharactersMax, answerDetailsMax, type RequestLogRow } from '@pitboss/contracts/objects/account'
import { z } from 'zod'

const refusalSchema = z.object({
  code: z.string(),
  message: z.string(),
  request_id: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).nullish(),
})

/**
 * What an answer told of a refusal, cut to the bounds of the request log; null for what is no error of ours.
 * It never holds more of the request than the names of its fields.
 */
export function readRefusal(
  json: unknown,
): { code: ErrorCode; answer: NonNullable<RequestLogRow['answer']> } | null {
  const parsed = refusalSchema.safeParse(json)
  if (!parsed.success || !isErrorCode(parsed.data.code)) return null
  const { code, message, details } = parsed.data
  const cut = (text: string) => text.slice(0, answerCharactersMax)
  const kept = (details ?? []).slice(0, answerDetailsMax)
  return {
    code,
    answer: {
      message: cut(message),
      details: kept.map((one) => ({ path: cut(one.path), message: cut(one.message) })),
    },
  }
}
