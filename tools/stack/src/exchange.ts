import { askPatiently } from '@pitboss/runtime/ask-patiently'

const usualTimeoutMs = 30_000

type Answer = { status: number; body: unknown }

/**
 * One HTTP exchange of JSON; no body is null. Asks again as `Retry-After` says unless `isPatient` is false.
 * Never throws for a status.
 * @throws when there is no answer in time, or one that is no JSON.
 */
export async function exchange(
  method: string,
  url: string,
  {
    token,
    body,
    timeoutMs = usualTimeoutMs,
    isPatient = true,
  }: { token?: string; body?: unknown; timeoutMs?: number; isPatient?: boolean } = {},
): Promise<Answer> {
  const ask = () =>
    fetch(url, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
  const response = await (isPatient ? askPatiently(ask) : ask())
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}
