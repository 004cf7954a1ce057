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

const file = z.strictObject({ master_keys: z.union([z.string(), z.record(z.string(), z.string())]) })

/**
 * The master keys of each service with a database, made once per data folder. They open the sealed secrets of
 * its database: keep them with it. The one key that earlier releases gave to all services stays behind each
 * service's own, until nothing is sealed under it and somebody takes it out of the file.
 */
export function loadMasterKeys(dataDir: string, services: readonly string[]): ReadonlyMap<string, string> {
  const path = join(dataDir, 'master-keys.json')
  const { master_keys: present } = readJson(path, file) ?? { master_keys: {} }
  const known = new Map<string, string>(typeof present === 'string' ? [] : Object.entries(present))
  const former = typeof present === 'string' ? `,${present}` : ''
  const without = services.filter((service) => !known.has(service))
  for (const service of without) {
    known.set(service, `${service}-1:${randomBytes(32).toString('base64')}${former}`)
  }
  if (without.length > 0) writePrivateJson(path, { master_keys: Object.fromEntries(known) })
  return known
}
