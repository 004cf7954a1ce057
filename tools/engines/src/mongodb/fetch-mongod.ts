import { fork } from 'node:child_process'
import { once } from 'node:events'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getOS } from 'mongodb-memory-server-core/lib/util/getos/index.js'
import { MongoBinaryDownloadUrl } from 'mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js'
import { EngineError, reasonOf } from '../engine-error.ts'
import { cachedFolder } from '../fetch/cached-folder.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'

export const mongodVersion = '8.2.6'
const folderName = `mongod-${mongodVersion}-${process.platform}-${process.arch}`
const connectTimeoutMs = 3_000
const downloader = fileURLToPath(new URL('./download-mongod-main.ts', import.meta.url))

/** Whether a mongod lies in the cache. */
export function isMongodCached(cacheDir: string): boolean {
  return existsSync(join(cacheDir, folderName))
}

/**
 * A real mongod, fetched by mongodb-memory-server-core. The library waits long for a host that does not
 * answer, so the host is knocked at first. It compares the download with an MD5 of the same host; no other
 * sum of it is known here, so who knows one says it.
 * @param sha256 of the program, in hex; compared at each use
 * @returns the program.
 * @throws EngineError when the host does not answer within three seconds, the program does not run here or is
 * another one than `sha256` says.
 */
export async function fetchMongod(
  cacheDir: string,
  progress: Progress,
  sha256: string | undefined,
): Promise<string> {
  const folder = await cachedFolder({
    cacheDir,
    name: folderName,
    freeBytesMin: 600e6,
    progress,
    make: async (aside) => {
      await knock()
      progress.step(`downloading MongoDB ${mongodVersion}`)
      const downloads = join(aside, 'download')
      copyFileSync(await download(downloads), join(aside, 'mongod'))
      rmSync(downloads, { recursive: true, force: true })
      await runProgram(join(aside, 'mongod'), ['--version'], { timeoutMs: 10_000 })
    },
  })
  const program = join(folder, 'mongod')
  if (sha256 === undefined) return program
  const actual = hash('sha256', await readFile(program))
  if (actual === sha256.toLowerCase()) return program
  throw new EngineError(`the SHA-256 of ${program} is ${actual}, not that of PITBOSS_MONGOD_SHA256`)
}

async function knock(): Promise<void> {
  const { platform, arch } = process
  const resolver = new MongoBinaryDownloadUrl({ version: mongodVersion, platform, arch, os: await getOS() })
  const url = await resolver.getDownloadUrl()
  try {
    const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(connectTimeoutMs) })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
  } catch (error) {
    throw new EngineError(`${new URL(url).host} (${reasonOf(error)})`)
  }
}

/**
 * In a process of its own, because the library shows its progress on standard output; it goes to stderr here.
 */
async function download(folder: string): Promise<string> {
  const child = fork(downloader, [folder, mongodVersion], { stdio: ['ignore', 2, 2, 'ipc'] })
  let program: string | null = null
  child.on('message', (message) => {
    program = typeof message === 'string' ? message : null
  })
  const [code] = await once(child, 'exit')
  if (code !== 0 || program === null)
    throw new EngineError('mongodb-memory-server-core could not download it')
  return program
}
