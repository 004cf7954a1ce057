import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const sourcesSchema = z.record(z.string(), z.string())

/**
 * What is wrong with the built pages of a checkout: they are missing, or were built from other files than
 * those that are there now. Null when they are as the files are.
 * @param root the project's folder
 */
export function findOldPages(root: string): string | null {
  const noted = join(root, 'web/dist/sources.json')
  if (!existsSync(noted)) return 'not built, or by an older build: npm run build:web'
  const sources = Object.entries(sourcesSchema.parse(JSON.parse(readFileSync(noted, 'utf8'))))
  const changed = sources.filter(([file, digest]) => digestOf(join(root, file)) !== digest)
  const [first] = changed[0] ?? []
  if (first === undefined) return null
  const others = changed.length > 1 ? ` and ${changed.length - 1} more` : ''
  return `older than ${first}${others}: npm run build:web`
}

function digestOf(file: string): string | null {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null
}
