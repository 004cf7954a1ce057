import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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

const programHeaderLoad = 1
const programHeaderDynamic = 2
const tagNeeded = 1n
const tagStringTable = 5n

/**
 * The shared libraries that a program or library asks for by name (`NEEDED`); none for a file that is no
 * 64-bit little-endian ELF with a dynamic section.
 */
export function elfNeeded(path: string): string[] {
  const file = readFileSync(path)
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) return []
  const headers = programHeaders(file)
  const dynamic = headers.find(({ type }) => type === programHeaderDynamic)
  if (dynamic === undefined) return []
  const names: number[] = []
  let stringTable = 0
  for (let at = dynamic.offset; at + 16 <= dynamic.offset + dynamic.size; at += 16) {
    const tag = file.readBigInt64LE(at)
    const value = Number(file.readBigUInt64LE(at + 8))
    if (tag === tagNeeded) names.push(value)
    if (tag === tagStringTable) stringTable = fileOffset(headers, value)
  }
  return names.map((name) => {
    const start = stringTable + name
    return file.toString('latin1', start, file.indexOf(0, start))
  })
}

type ProgramHeader = { type: number; offset: number; address: number; size: number }

function programHeaders(file: Buffer): ProgramHeader[] {
  const start = Number(file.readBigUInt64LE(32))
  const entryBytes = file.readUInt16LE(54)
  const count = file.readUInt16LE(56)
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * entryBytes
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 8)),
      address: Number(file.readBigUInt64LE(at + 16)),
      size: Number(file.readBigUInt64LE(at + 32)),
    }
  })
}

function fileOffset(headers: ProgramHeader[], address: number): number {
  const segment = headers.find(
    (h) => h.type === programHeaderLoad && address >= h.address && address < h.address + h.size,
  )
  return segment === undefined ? address : segment.offset + (address - segment.address)
}
