import { readFileSync, writeFileSync } from 'node:fs'
import type { z } from 'zod'

/** A file of secrets in a data folder. @throws when it cannot be read as `schema` */
export function readPrivateJson<Value>(path: string, schema: z.ZodType<Value>): Value {
  return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** Writes it for the owner's eyes only. */
export function writePrivateJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}
