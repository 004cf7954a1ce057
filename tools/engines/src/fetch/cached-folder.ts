import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError, errorCode, reasonOf } from '../engine-error.ts'
import { type Claim, waitForClaim } from '../processes/claim-file.ts'
import { makeFolder } from '../processes/make-folder.ts'
import type { Progress } from './progress.ts'
import { listPrograms, verifyPrograms } from './verify-programs.ts'

const otherStarterTimeoutMs = 15 * 60_000

/**
 * A folder of the cache that is there complete or not at all: made aside, then renamed into place, under a
 * lock, so that two starts never meet in a half-made one. A folder that a break left half-made is removed and
 * made again. Programs and libraries in it are compared with what they were then at each use.
 * @throws EngineError when the cache cannot be written or was changed, or the disk is too full; whatever
 * `make` throws.
 */
export async function cachedFolder(options: {
  cacheDir: string
  name: string
  /** Free space that `make` needs. */
  freeBytesMin: number
  progress: Progress
  make: (folder: string) => Promise<void>
}): Promise<string> {
  const { cacheDir, name, freeBytesMin, progress, make } = options
  const folder = join(cacheDir, name)
  if (existsSync(folder)) {
    await verifyPrograms(folder)
    return folder
  }
  makeCache(cacheDir)
  const claim = await claimLock(join(cacheDir, `${name}.lock`), name, progress)
  try {
    if (existsSync(folder)) {
      await verifyPrograms(folder)
      return folder
    }
    removeLeftovers(cacheDir, `${name}.making-`)
    requireSpace(cacheDir, freeBytesMin)
    const aside = join(cacheDir, `${name}.making-${process.pid}`)
    mkdirSync(aside, { mode: 0o755 })
    try {
      await make(aside)
      await listPrograms(aside)
      renameSync(aside, folder)
    } catch (error) {
      rmSync(aside, { recursive: true, force: true })
      if (isDiskFull(error)) throw new EngineError(`the disk of the cache folder ${cacheDir} is full`)
      throw error
    }
    return folder
  } finally {
    claim.release()
  }
}

function makeCache(cacheDir: string): void {
  try {
    makeFolder(cacheDir)
  } catch (error) {
    throw new EngineError(
      `the cache folder ${cacheDir} cannot be made (${reasonOf(error)}); set PITBOSS_CACHE_DIR`,
    )
  }
}

async function claimLock(path: string, name: string, progress: Progress): Promise<Claim> {
  let told = false
  const tell = (pid: number) => {
    if (!told) progress.step(`process ${pid} is fetching ${name} already, waiting for it`)
    told = true
  }
  const claim = await waitForClaim(path, otherStarterTimeoutMs, tell).catch((error: unknown) => {
    if (isDiskFull(error)) throw new EngineError(`the disk of the cache folder is full (${path})`)
    throw new EngineError(`the cache folder cannot be written (${reasonOf(error)}); set PITBOSS_CACHE_DIR`)
  })
  if (claim === null) throw new EngineError(`another process holds ${path} for more than 15 minutes; stop it`)
  return claim
}

function removeLeftovers(cacheDir: string, prefix: string): void {
  for (const entry of readdirSync(cacheDir)) {
    if (entry.startsWith(prefix)) rmSync(join(cacheDir, entry), { recursive: true, force: true })
  }
}

/** @throws EngineError when the disk of `folder` has less than `bytesMin` free. */
export function requireSpace(folder: string, bytesMin: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= bytesMin) return
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6)
  throw new EngineError(
    `the disk of ${folder} has ${megabytes(free)} MB free, ${megabytes(bytesMin)} MB are needed; free some space or choose another folder`,
  )
}

function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'ENOSPC' || /No space left on device/.test(reasonOf(error))
}
