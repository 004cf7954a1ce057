import { randomBytes } from 'node:crypto'

const pattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/

/**
 * The W3C `traceparent` to send with a call made on behalf of `parent`: the same trace with a span id of its
 * own, or a new trace when there is no usable parent. Never throws.
 */
export function childTraceparent(parent: string | undefined): string {
  const known = parent === undefined ? null : pattern.exec(parent)
  const spanId = randomBytes(8).toString('hex')
  if (known === null) return `00-${randomBytes(16).toString('hex')}-${spanId}-01`
  return `00-${known[1]}-${spanId}-${known[2]}`
}
