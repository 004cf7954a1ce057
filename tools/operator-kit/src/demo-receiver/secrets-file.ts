import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'

export const secretsSchema = z.strictObject({ secrets: z.array(z.string().min(1).max(256)).max(20) })

export type SecretsFile = {
  /** The secrets now; the file is read again when it has changed. An absent file means none. */
  read(): Promise<readonly string[]>
  write(secrets: readonly string[]): Promise<void>
}

/** The receiver's signing secrets in a JSON file of mode 600 that others may write too. */
export function createSecretsFile(path: string): SecretsFile {
  let known: { version: string; secrets: readonly string[] } | null = null
  return {
    async read() {
      const version = await versionOf(path)
      if (version === null) return []
      if (known?.version !== version) {
        known = { version, secrets: secretsSchema.parse(JSON.parse(await readFile(path, 'utf8'))).secrets }
      }
      return known.secrets
    },
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
