import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { EngineError, reasonOf } from '../engine-error.ts'
import { cachedFolder } from '../fetch/cached-folder.ts'
import { debianSuite, withPrivateApt } from '../fetch/private-apt.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'
import { natsProgramVersion, requireNatsVersion } from './nats-version.ts'

const version = '2.14.0'
const base = 'https://github.com/nats-io/nats-server/releases/download'
const connectTimeoutMs = 3_000
const stallTimeoutMs = 15_000
const archiveBytesMax = 100_000_000

/** SHA-256 of the archives by platform, from the SHA256SUMS of the release; they change with the version. */
const sums: Record<string, string> = {
  'linux-x64': '3d8b74dfad39af184c765a6dd120441ed1c648d6672eddf6b304f222661251b8',
  'linux-arm64': 'ce7dc5f7d97b70dabc38b13157fed28d7d06227860676143c15c62c5c297996c',
  'darwin-x64': 'c307afaa5810dea24bfe5bb0cd895ddc7c47946f359823336ef3be1a41bdddfa',
  'darwin-arm64': '36f28cf166e5ae5dd88d700a609c810b97ffad641e0c51b49cf8fae25fb3fac7',
}

const platform = `${process.platform}-${process.arch}`
const releaseFolder = `nats-server-${version}-${platform}`

/** Whether the release lies in the cache. */
export function isNatsReleaseCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, releaseFolder))
}

/**
 * The official release of nats-server for this platform, verified by its pinned SHA-256.
 * @returns the program.
 * @throws EngineError when its host cannot be reached within three seconds or it is not the file we know.
 */
export async function fetchNatsRelease(cacheDir: string, progress: Progress): Promise<string> {
  const sha256 = sums[platform]
  if (sha256 === undefined) throw new EngineError(`no release of nats-server is known for ${platform}`)
  const folder = await cachedFolder({
    cacheDir,
    name: releaseFolder,
    freeBytesMin: 100e6,
    progress,
    make: async (aside) => {
      const name = `nats-server-v${version}-${platform.replace('x64', 'amd64')}`
      const file = join(aside, 'archive.tar.gz')
      await download(`${base}/v${version}/${name}.tar.gz`, file, sha256, progress)
      await runProgram('tar', ['-xzf', file, '-C', aside, '--strip-components=1', `${name}/nats-server`])
      rmSync(file)
      await natsProgramVersion(join(aside, 'nats-server'))
    },
  })
  return join(folder, 'nats-server')
}

/**
 * Downloads a file and compares its SHA-256.
 * @throws EngineError when the host does not answer in time, stalls, or sends something else.
 */
export async function download(url: string, file: string, sha256: string, progress: Progress): Promise<void> {
  const host = new URL(url).host
  const giveUp = new AbortController()
  let timer = setTimeout(
    () => giveUp.abort(new Error(`no answer within ${connectTimeoutMs / 1000} s`)),
    connectTimeoutMs,
  )
  try {
    const response = await fetch(url, { signal: giveUp.signal })
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
    const total = Number(response.headers.get('content-length')) || null
    const hash = createHash('sha256')
    const out = await open(file, 'w')
    try {
      let bytes = 0
      for await (const part of response.body) {
        clearTimeout(timer)
        timer = setTimeout(() => giveUp.abort(new Error('the download stalled')), stallTimeoutMs)
        bytes += part.length
        if (bytes > archiveBytesMax) throw new Error('the file is too large')
        hash.update(part)
        await out.write(part)
        progress.bytes(`downloading ${host},`, bytes, total)
      }
    } finally {
      await out.close()
    }
    const actual = hash.digest('hex')
    if (actual !== sha256) throw new Error(`its SHA-256 is ${actual}, not the known ${sha256}`)
  } catch (error) {
    const reason: unknown = giveUp.signal.aborted ? giveUp.signal.reason : error
    throw new EngineError(`${host} (${reasonOf(reason)})`)
  } finally {
    clearTimeout(timer)
  }
}

const recipe = 1
const debianFolder = `nats-server-${debianSuite}-${process.arch}-${recipe}`

/** Whether Debian's package lies in the cache. */
export function isNatsDebianCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, debianFolder))
}

/** Debian's nats-server, fetched without being installed. @returns the program. */
export async function fetchNatsDebian(cacheDir: string, progress: Progress): Promise<string> {
  const folder = await cachedFolder({
    cacheDir,
    name: debianFolder,
    freeBytesMin: 150e6,
    progress,
    make: async (aside) => {
      await withPrivateApt({ cacheDir, progress }, async (apt) => {
        for (const { file } of await apt.download(['nats-server'])) {
          await runProgram('dpkg-deb', ['-x', file, join(aside, 'unpacked')])
          rmSync(file)
        }
      })
      const program = join(aside, 'unpacked/usr/sbin/nats-server')
      if (!existsSync(program))
        throw new EngineError("Debian's package holds no nats-server where it used to")
      renameSync(program, join(aside, 'nats-server'))
      rmSync(join(aside, 'unpacked'), { recursive: true, force: true })
      requireNatsVersion(await natsProgramVersion(join(aside, 'nats-server')), "Debian's nats-server")
    },
  })
  return join(folder, 'nats-server')
}
