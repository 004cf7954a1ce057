const retryAfterMaxMs = 60 * 60 * 1000

/**
 * The delay that an answer asks for, in milliseconds, at most an hour; null for none. Only 429 and 503 can
 * ask, in seconds or with an HTTP date. Never scaled. Source: docs/contract.md, sections 7 and 11.
 */
export function retryAfterMs(httpStatus: number, header: string | null, now: Date): number | null {
  if (header === null || (httpStatus !== 429 && httpStatus !== 503)) return null
  const text = header.trim()
  if (/^[0-9]{1,9}$/.test(text)) return Math.min(Number(text) * 1000, retryAfterMaxMs)
  if (!/^[A-Za-z]{3,9},? [0-9A-Za-z :-]{10,30}$/.test(text)) return null
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return null
  return Math.min(Math.max(atMs - now.getTime(), 0), retryAfterMaxMs)
}
