import { exchange } from '@pitboss/stack/exchange'
import { z } from 'zod'

export type Answer = { status: number; body: Record<string, unknown> }

const object = z.record(z.string(), z.unknown())
const timeoutMs = 25_000

/** One HTTP exchange; a connection that is refused, lost or silent is status 0. Never throws. */
export async function send(
  method: string,
  url: string,
  options: { token?: string; body?: unknown; isPatient?: boolean } = {},
): Promise<Answer> {
  try {
    const answer = await exchange(method, url, { ...options, timeoutMs })
    return { status: answer.status, body: object.parse(answer.body ?? {}) }
  } catch (error) {
    return { status: 0, body: { error: String(error) } }
  }
}

/** A code of the error catalogue, or null for an answer that is no error. */
export function codeOf({ body }: Answer): string | null {
  return typeof body.code === 'string' ? body.code : null
}

/**
 * Whether the answer says nothing about the request: the service was away or overloaded, or the connection
 * broke.
 */
export function isTransient(answer: Answer): boolean {
  const code = codeOf(answer)
  return answer.status === 0 || code === 'SERVICE_UNAVAILABLE' || code === 'RATE_LIMITED'
}

/** The player's token in the launch link of a session that was opened. */
export function launchTokenOf({ body }: Answer): string {
  return new URL(String(body.launch_url)).hash.replace('#token=', '')
}
