import type { Call } from '@pitboss/contracts/call'
import { describeIssue } from '@pitboss/contracts/describe-issue'
import { toDetails } from '@pitboss/contracts/validate-part'
import { invalidFields, ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { decodeJson } from './wire.ts'

type Issue = z.core.$ZodIssue

/**
 * The reply of a call as the caller's build knows it. A newer callee may say more: fields that the schema
 * does not know are left out (docs/versioning.md). Requests stay strict.
 * @throws ServiceError INTERNAL_ERROR for anything else that does not fit; its cause names the fields.
 */
export function parseReply<Request, Reply>(call: Call<Request, Reply>, data: Uint8Array): Reply {
  const fits = (value: unknown): Reply => {
    const parsed = call.reply.safeParse(value)
    if (parsed.success) return parsed.data
    if (!parsed.error.issues.every((issue) => leaveOut(value, issue))) throw parsed.error
    return call.reply.parse(value)
  }
  try {
    return fits(decodeJson(data))
  } catch (cause) {
    const what = cause instanceof z.ZodError ? z.prettifyError(cause) : 'not JSON'
    throw new ServiceError('INTERNAL_ERROR', {
      cause: new Error(`the answer to ${call.subject} does not fit: ${what}`),
    })
  }
}

/** The request of a call. @throws ServiceError VALIDATION_ERROR that names the fields which do not fit. */
export function parseRequest<Request, Reply>(call: Call<Request, Reply>, data: Uint8Array): Request {
  let value: unknown
  try {
    value = decodeJson(data)
  } catch {
    throw new ServiceError('VALIDATION_ERROR', { message: 'The request is not JSON.' })
  }
  const parsed = call.request.safeParse(value, { error: describeIssue, reportInput: true })
  if (parsed.success) return parsed.data
  throw invalidFields(toDetails(parsed.error.issues, 'request'))
}

/** Deletes the fields that an issue calls unknown; false when the issue is about something else. */
function leaveOut(value: unknown, issue: Issue): boolean {
  if (issue.code !== 'unrecognized_keys') return false
  const holder = issue.path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value)
  return issue.keys.every((key) => Reflect.deleteProperty(Object(holder), key))
}
