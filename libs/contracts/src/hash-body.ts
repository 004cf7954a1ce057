import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/**
 * SHA-256 of a parsed body, in hex. The order of its fields does not count. @throws TypeError for a bigint
 */
export function hashBody(body: unknown): string {
  return createHash('sha256').update(canonicalJson(body)).digest('hex')
}
