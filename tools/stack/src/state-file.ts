import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { z } from 'zod'

/** Writes JSON for the owner's eyes only (mode 600), whole or not at all. */
export function writePrivateJson(path: string, value: unknown): void {
  const partial = `${path}.partial`
  writeFileSync(partial, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(partial, path)
}

/** The parsed file, or null when there is none. @throws when it is there but cannot be read as `schema`. */
export function readJson<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    // ENOTDIR: what should be the folder is a file
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
  return schema.parse(JSON.parse(text))
}
