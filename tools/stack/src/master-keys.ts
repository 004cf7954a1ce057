import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readJson, writePrivateJson } from './state-file.ts'

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
