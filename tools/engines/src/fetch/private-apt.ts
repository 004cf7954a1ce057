import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../engine-error.ts'
import { waitForClaim } from '../processes/claim-file.ts'
import { makeFolder } from '../processes/make-folder.ts'
import { type AptSource, debianMirror, readAptSources, securityMirror } from './apt-sources.ts'
import type { Progress } from './progress.ts'
import { runProgram } from './run-program.ts'

/** The Debian suite that carries PostgreSQL 18 with DocumentDB 1.0 and NATS 2.15. */
export const debianSuite = 'forky'
/** Suites that we fetch from: programs for this machine, and the stable one, of which images are made. */
type DebianSuite = typeof debianSuite | 'trixie'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const listsAgeMsMax = 60 * 60_000
const lockTimeoutMs = 10 * 60_000

export type DebianPackage = { name: string; file: string }

/** An apt of our own, with its own lists and cache. */
export type PrivateApt = Omit<ReturnType<typeof createApt>, 'update'>

/** Reason why Debian packages cannot be fetched on this machine; null when they can. */
export function aptObstacle(): string | null {
  if (process.platform !== 'linux') return `no Debian packages on ${process.platform}`
  if (!['x64', 'arm64'].includes(process.arch)) return `no Debian packages for ${process.arch}`
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb'))
    return 'this machine has no apt-get'
  if (debianMirror(readAptSources()) === null)
    return 'the apt sources of this machine name no mirror of the Debian archive'
  return null
}

/**
 * Lends an apt of our own: its lists, cache and sources lie in `<cacheDir>/apt`, so nothing is installed,
 * no root is needed, and the machine's own apt is only read (its mirrors and its proxy settings). One process
 * at a time. A stable suite comes with its security updates where the machine knows a mirror of them.
 */
export async function withPrivateApt<T>(
  { cacheDir, progress, suite = debianSuite }: { cacheDir: string; progress: Progress; suite?: DebianSuite },
  use: (apt: PrivateApt) => Promise<T>,
): Promise<T> {
  const obstacle = aptObstacle()
  const known = readAptSources()
  const mirror = debianMirror(known)
  if (obstacle !== null || mirror === null) throw new EngineError(obstacle ?? 'no mirror')
  makeFolder(cacheDir)
  const folder = join(cacheDir, suite === debianSuite ? 'apt' : `apt-${suite}`)
  const lock = `${folder}.lock`
  const claim = await waitForClaim(lock, lockTimeoutMs)
  if (claim === null) throw new EngineError(`another process holds ${lock} for too long; stop it`)
  try {
    const apt = createApt(folder, suite, progress)
    const security = suite === debianSuite ? null : securityMirror(known)
    const line = ({ signedBy, uri }: AptSource, name: string) =>
      `deb [signed-by=${signedBy ?? keyring}] ${uri} ${name} main\n`
    await apt.update(line(mirror, suite) + (security === null ? '' : line(security, `${suite}-security`)))
    return await use(apt)
  } finally {
    claim.release()
  }
}

function createApt(folder: string, suite: DebianSuite, progress: Progress) {
  const packages = join(folder, 'packages')
  const source = join(folder, 'sources.list')
  for (const path of ['lists/partial', 'cache/archives/partial', 'packages']) {
    mkdirSync(join(folder, path), { recursive: true, mode: 0o755 })
  }
  const set = (...settings: string[]) => settings.flatMap((setting) => ['-o', setting])
  const options = set(
    `Dir::Etc::SourceList=${source}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${join(folder, 'lists')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    'Acquire::Languages=none',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false',
    'Acquire::http::Timeout=10',
    'Acquire::https::Timeout=10',
    'Acquire::Retries=2',
    'APT::Sandbox::User=root',
    'APT::Get::List-Cleanup=false',
  )
  const aptGet = (args: string[], cwd = packages) =>
    runProgram('apt-get', [...options, ...args], { cwd, env: environment })
  const aptCache = (...args: string[]) =>
    runProgram('apt-cache', [...options, ...args], { env: environment, allow: [100] })

  return {
    update: async (line: string): Promise<void> => {
      const stamp = join(folder, 'updated')
      const ageMs = Date.now() - (statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      if (ageMs < listsAgeMsMax) return
      writeFileSync(source, line)
      const bytes = () => sizeOf(join(folder, 'lists')) + sizeOf(join(folder, 'lists/partial'))
      await watched(aptGet(['--error-on=any', 'update']), () =>
        progress.bytes(`reading the package list of Debian ${suite},`, bytes(), null),
      )
      writeFileSync(stamp, '')
    },
    /** Names among the given ones that the suite has. */
    known: async (names: string[]): Promise<string[]> => {
      const all = new Set((await aptCache('pkgnames')).split('\n'))
      return names.filter((name) => all.has(name))
    },
    /** Fetches and verifies packages; those fetched before a break are not fetched again. */
    download: async (names: string[]): Promise<DebianPackage[]> => {
      // Not where the files go: apt leaves out those that are there.
      const uris = await aptGet(['download', '--print-uris', ...names], folder)
      const wanted = [...uris.matchAll(/^'[^']*' (\S+) (\d+)/gm)].map(([, file, size]) => ({
        file: String(file),
        size: Number(size),
      }))
      const total = wanted.reduce((sum, { size }) => sum + size, 0)
      const bytes = () => wanted.reduce((sum, { file }) => sum + sizeOfFile(join(packages, file)), 0)
      const text = `downloading ${names.length} Debian package${names.length === 1 ? '' : 's'},`
      await watched(aptGet(['download', ...names]), () => progress.bytes(text, bytes(), total))
      return wanted.map(({ file }) => ({ name: file.split('_')[0] ?? file, file: join(packages, file) }))
    },
    /** The packages of section `libs` on which these depend. */
    libraryDependencies: async (names: string[]): Promise<string[]> => {
      const depended = dependencies(await aptCache('show', '--no-all-versions', ...names))
      if (depended.length === 0) return []
      const sections = await aptCache('show', '--no-all-versions', ...depended)
      return stanzas(sections).flatMap((fields) =>
        fields.get('Section') === 'libs' ? [fields.get('Package') ?? ''] : [],
      )
    },
  }
}

const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...proxies(process.env) }

function proxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(https?|no|all)_proxy$/i.test(name) || name === 'HOME'),
  )
}

async function watched<T>(work: Promise<T>, show: () => void): Promise<T> {
  const timer = setInterval(show, 100)
  try {
    return await work
  } finally {
    clearInterval(timer)
    show()
  }
}

function stanzas(text: string): Map<string, string>[] {
  return text
    .split('\n\n')
    .map(
      (stanza) =>
        new Map([...stanza.matchAll(/^([A-Za-z-]+): (.*)$/gm)].map(([, k, v]) => [String(k), String(v)])),
    )
}

function dependencies(text: string): string[] {
  const names = stanzas(text).flatMap((fields) =>
    `${fields.get('Depends') ?? ''},${fields.get('Pre-Depends') ?? ''}`
      .split(/[,|]/)
      .map((term) => term.trim().split(/[\s:(]/)[0] ?? ''),
  )
  return [...new Set(names)].filter((name) => name !== '')
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + sizeOfFile(join(folder, name)), 0)
}

function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Removes fetched package files; the unpacked programs stay. */
export function removePackageFiles(cacheDir: string): void {
  rmSync(join(cacheDir, 'apt', 'packages'), { recursive: true, force: true })
}
