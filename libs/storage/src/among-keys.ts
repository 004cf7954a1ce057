import type { DocumentKey } from './change-fenced.ts'

/** The filter of these documents: by their ids, and by the values of their shard key. Source: ours. */
export function amongKeys(keys: readonly DocumentKey[]): Record<string, { $in: string[] }> {
  const fields = [...new Set(keys.flatMap((key) => Object.keys(key)))]
  return Object.fromEntries(
    fields.map((field) => [field, { $in: [...new Set(keys.flatMap((key) => key[field] ?? []))] }]),
  )
}
