import { invalidField } from '@pitboss/errors/service-error'

const pairsMax = 64
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads the query of a request target, every key once. `+` is a space, as forms write it.
 * @throws ServiceError VALIDATION_ERROR with the key as path, or `query` when there is none to name.
 */
export function parseQuery(target: string): Record<string, string> {
  const mark = target.indexOf('?')
  if (mark === -1 || mark === target.length - 1) return {}
  const pairs = target.slice(mark + 1).split('&')
  if (pairs.length > pairsMax) throw invalidField('query', `must not have more than ${pairsMax} fields`)
  const fields = new Map<string, string>()
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = decode(equals === -1 ? pair : pair.slice(0, equals), null)
    if (key === '') throw invalidField('query', 'must not have a field without a name')
    if (fields.has(key)) throw invalidField(key, 'must not appear twice')
    if (refusedKeys.has(key)) throw invalidField(key, 'is not a known field')
    fields.set(key, equals === -1 ? '' : decode(pair.slice(equals + 1), key))
  }
  return Object.fromEntries(fields)
}

function decode(text: string, key: string | null): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalidField(key ?? 'query', 'has a bad escape')
  }
  if (decoded.includes('\0')) throw invalidField(key ?? 'query', 'must not contain NUL')
  return decoded
}
