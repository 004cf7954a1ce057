import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

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

const file = z.strictObject({ master_keys: z.string() })

/**
 * The installation's master keys, made once per data folder. They open the sealed secrets of the database:
 * keep them with it.
 */
export function loadMasterKeys(dataDir: string): string {
  const path = join(dataDir, 'master-keys.json')
  const present = readJson(path, file)
  if (present !== null) return present.master_keys
  const master_keys = `k1:${randomBytes(32).toString('base64')}`
  writePrivateJson(path, { master_keys })
  return master_keys
}
