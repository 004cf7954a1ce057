import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const startsEngines =
  /(with-engines|with-nats-cluster|run-stack|start-product|start-test-engines|start-mongodb|start-nats|start-documentdb)(\.ts)?$/
const importOf = /(?:from|import|new URL)\s*\(?\s*['"]([^'"]+)['"]/g

/**
 * Whether a test file needs a database or a broker: it, or a file that it imports or starts by a relative
 * path, imports one of the modules that start or lend them. So there is no list to keep, and a suite of pure
 * rules never waits for engines.
 */
export function needsEngines(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
  seen.add(file)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(importOf)) {
    if (specifier === undefined) continue
    if (startsEngines.test(specifier)) return true
    if (specifier.startsWith('.') && needsEngines(resolve(dirname(file), specifier), seen)) return true
  }
  return false
}
