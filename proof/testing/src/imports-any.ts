import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const importOf = /(?:from|import|new URL)\s*\(?\s*['"]([^'"]+)['"]/g

/**
 * Whether a file, or one that it imports or starts by a relative path, imports a module whose specifier
 * matches. So there is no list of test files to keep for what they need.
 */
export function importsAny(file: string, modules: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(file) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
  seen.add(file)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(importOf)) {
    if (specifier === undefined) continue
    if (modules.test(specifier)) return true
    if (specifier.startsWith('.') && importsAny(resolve(dirname(file), specifier), modules, seen)) return true
  }
  return false
}
