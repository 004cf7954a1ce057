import { hash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { EngineError } from '../engine-error.ts'

const listName = 'SHA256SUMS'
/** Each process looks once. */
const verified = new Map<string, Promise<void>>()

/** Writes down the SHA-256 of each program and library below the folder, for `verifyPrograms`. */
export async function listPrograms(folder: string): Promise<void> {
  const path = join(folder, listName)
  const aside = `${path}.${process.pid}`
  const sums = await sumsOf(folder)
  writeFileSync(aside, [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join(''))
  renameSync(aside, path)
}

/**
 * Compares the programs and libraries of a cached folder with what they were when it was made, once in each
 * process. A folder of an earlier release has no list: it is made then. The list finds what was changed,
 * lost or added since; who can write to the folder can write the list, too.
 * @throws EngineError naming the file and the remedy
 */
export function verifyPrograms(folder: string): Promise<void> {
  const known = verified.get(folder) ?? comparePrograms(folder)
  verified.set(folder, known)
  return known
}

/** As `verifyPrograms`, without what this process knows already. */
export async function comparePrograms(folder: string): Promise<void> {
  const listed = readList(folder)
  if (listed === null) return listPrograms(folder)
  const found = await sumsOf(folder)
  const changed = [...new Set([...listed.keys(), ...found.keys()])].find(
    (file) => listed.get(file) !== found.get(file),
  )
  if (changed === undefined) return
  throw new EngineError(
    `${join(folder, changed)} is not what was fetched; empty the cache with "npm run engines -- clean"`,
  )
}

/** What the list says, by path below the folder; null without a list. */
function readList(folder: string): Map<string, string> | null {
  const names = readdirSync(folder)
  if (!names.includes(listName)) return null
  const lines = readFileSync(join(folder, listName), 'utf8').split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
}

async function sumsOf(folder: string): Promise<Map<string, string>> {
  const sums = new Map<string, string>()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.toSorted()) {
    const isProgram = /\.so(\.|$)/.test(file) || ((await stat(file)).mode & 0o111) !== 0
    if (isProgram) sums.set(relative(folder, file), hash('sha256', await readFile(file)))
  }
  return sums
}
