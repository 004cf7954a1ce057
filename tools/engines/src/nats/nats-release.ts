import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { EngineError, reasonOf } from '../engine-error.ts'
import { cachedFolder } from '../fetch/cached-folder.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'
import { natsProgramVersion } from './nats-version.ts'

const version = '2.14.0'
const base = 'https://github.com/nats-io/nats-server/releases/download'
const connectTimeoutMs = 3_000
const stallTimeoutMs = 15_000
const archiveBytesMax = 100_000_000

/** SHA-256 of the archives, from the SHA256SUMS of the release. Version and sums change together. */
const archives: Record<string, { name: string; sha256: string }> = {
  'linux-x64': {
    name: 'linux-amd64',
    sha256: '3d8b74dfad39af184c765a6dd120441ed1c648d6672eddf6b304f222661251b8',
  },
  'linux-arm64': {
    name: 'linux-arm64',
    sha256: 'ce7dc5f7d97b70dabc38b13157fed28d7d06227860676143c15c62c5c297996c',
  },
  'darwin-x64': {
    name: 'darwin-amd64',
    sha256: 'c307afaa5810dea24bfe5bb0cd895ddc7c47946f359823336ef3be1a41bdddfa',
  },
  'darwin-arm64': {
    name: 'darwin-arm64',
    sha256: '36f28cf166e5ae5dd88d700a609c810b97ffad641e0c51b49cf8fae25fb3fac7',
  },
}

const platform = `${process.platform}-${process.arch}`
const folderName = `nats-server-${version}-${platform}`

/** Whether the release lies in the cache. */
export function isNatsReleaseCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, folderName))
}

/**
 * The official release of nats-server for this platform, verified by its pinned SHA-256.
 * @returns the program.
 * @throws EngineError when its host cannot be reached within three seconds or it is not the file we know.
 */
export async function fetchNatsRelease(cacheDir: string, progress: Progress): Promise<string> {
  const archive = archives[platform]
  if (archive === undefined) throw new EngineError(`no release of nats-server is known for ${platform}`)
  const folder = await cachedFolder({
    cacheDir,
    name: folderName,
    freeBytesMin: 100e6,
    progress,
    make: async (aside) => {
      const name = `nats-server-v${version}-${archive.name}`
      const file = join(aside, 'archive.tar.gz')
      await download(`${base}/v${version}/${name}.tar.gz`, file, archive.sha256, progress)
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
      const reader = response.body.getReader()
      let bytes = 0
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(timer)
        timer = setTimeout(() => giveUp.abort(new Error('the download stalled')), stallTimeoutMs)
        bytes += part.value.length
        if (bytes > archiveBytesMax) throw new Error('the file is too large')
        hash.update(part.value)
        await out.write(part.value)
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
