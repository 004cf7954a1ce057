import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'

export const secretsSchema = z.strictObject({ secrets: z.array(z.string().min(1).max(256)).max(20) })

export type SecretsFile = {
  /** The secrets of a second ago or less. An absent file means none. */
  read(): Promise<readonly string[]>
  /** The secrets now; the file is read again when it has changed. */
  readNow(): Promise<readonly string[]>
  write(secrets: readonly string[]): Promise<void>
}

/** A look at the file for each delivery takes as long as its signature. */
const trustedMs = 1000

/** The receiver's signing secrets in a JSON file of mode 600 that others may write too. */
export function createSecretsFile(path: string): SecretsFile {
  let known: { version: string | null; secrets: readonly string[] } | null = null
  let seenMs = 0

  async function readNow(): Promise<readonly string[]> {
    const nowMs = performance.now()
    const version = await versionOf(path)
    if (known === null || known.version !== version) known = { version, secrets: await readSecrets(version) }
    seenMs = nowMs
    return known.secrets
  }

  async function readSecrets(version: string | null): Promise<readonly string[]> {
    return version === null ? [] : secretsSchema.parse(JSON.parse(await readFile(path, 'utf8'))).secrets
  }

  return {
    read: async () => (known !== null && performance.now() - seenMs < trustedMs ? known.secrets : readNow()),
    readNow,
    async write(secrets) {
      await mkdir(dirname(path), { recursive: true })
      const draft = `${path}.${process.pid}.new`
      await writeFile(draft, JSON.stringify({ secrets }), { mode: 0o600 })
      await rename(draft, path)
      known = null
    },
  }
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { ino, mtimeMs, size } = await stat(path)
    return `${ino}:${mtimeMs}:${size}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
