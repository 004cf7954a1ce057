import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { elfNeeded } from './elf-needed.ts'

/**
 * The names of shared libraries that `programs` need, directly or through others, and that `libraryFolders`
 * lack.
 */
export function missingLibraries(programs: string[], libraryFolders: string[]): string[] {
  const missing = new Set<string>()
  const seen = new Set<string>()
  const pending = [...programs]
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const name of elfNeeded(file)) {
      const folder = libraryFolders.find((candidate) => existsSync(join(candidate, name)))
      if (folder === undefined) missing.add(name)
      else pending.push(join(folder, name))
    }
  }
  return [...missing].sort()
}

/**
 * Whether a Debian package's name looks like the home of a library: `libxml2.so.16` and `libxml2-16`,
 * `libssl3t64`.
 */
export function looksLikeHome(packageName: string, libraryName: string): boolean {
  const plain = (text: string) =>
    text
      .replace(/t64$/, '')
      .replaceAll(/[-_.+]/g, '')
      .toLowerCase()
  const [, base, version = ''] = /^(.*?)\.so(?:\.(.*))?$/.exec(libraryName) ?? []
  if (base === undefined) return false
  return plain(packageName) === plain(base + version) || plain(packageName) === plain(base)
}
