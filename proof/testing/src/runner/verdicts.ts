import { execFileSync } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { cacheFolder } from '@pitboss/engines/engine-settings'
import { z } from 'zod'
import { readPackages } from '../package-exports.ts'
import { importsIn } from '../read-imports.ts'

/** Fingerprints of what has passed on this machine, by the proof's name; git ignores it. */
const fileName = '.test-verdicts.json'
const verdicts = z.record(z.string(), z.string())
/** What starts a process may start anything. */
const starts = /child_process|start-product|run-stack|run-chaos|with-engines|start-(mongodb|nats|documentdb)/
const pathInSource = /new URL\(\s*['"](\.[^'"]+)['"]/g

export function readVerdicts(root: string): Readonly<Record<string, string>> {
  const path = join(root, fileName)
  return existsSync(path) ? verdicts.parse(JSON.parse(readFileSync(path, 'utf8'))) : {}
}

export function keepVerdicts(root: string, passed: readonly (readonly [string, string])[]): void {
  const all = { ...readVerdicts(root), ...Object.fromEntries(passed) }
  writeFileSync(join(root, fileName), `${JSON.stringify(all, null, 2)}\n`)
}

/**
 * A hash of everything on which the verdict of a proof rests: the files that it imports and the data that
 * they name, or every file of the project where one of them starts a process; the lock file, the engines and
 * Node.
 * @param file of the proof, from the project's root
 */
export function fingerprintOf(root: string, file: string): string {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`)
  const closure = closureOf(root, file)
  for (const path of closure ?? projectFiles(root)) addFile(hash, root, path)
  addFile(hash, root, 'package-lock.json')
  const cache = cacheFolder(process.env)
  if (existsSync(cache)) hash.update(readdirSync(cache).toSorted().join('\n'))
  return hash.digest('hex')
}

/** The files that `file` needs, itself included; null where one of them starts a process. */
function closureOf(root: string, file: string): readonly string[] | null {
  const packages = readPackages(root)
  const found = new Set<string>([file])
  for (const path of found) {
    if (!/\.[cm]?tsx?$/.test(path)) continue
    const text = readFileSync(join(root, path), 'utf8')
    if (starts.test(text)) return null
    for (const { target } of importsIn(path, text, packages)) if (isFile(root, target)) found.add(target)
    for (const [, named = ''] of text.matchAll(pathInSource)) {
      const target = relative(root, resolve(root, dirname(path), named))
      if (isFile(root, target)) found.add(target)
    }
  }
  return [...found].toSorted()
}

function isFile(root: string, path: string | null): path is string {
  return path !== null && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
}

function projectFiles(root: string): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return listed.split('\n').filter((path) => isFile(root, path) && !path.endsWith('.md'))
}

function addFile(hash: Hash, root: string, path: string): void {
  hash.update(`${path}\n`).update(readFileSync(join(root, path)))
}
