import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Answer } from '../http/inbound.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
}

const filesMax = 500
const fileBytesMax = 8 * 1024 * 1024
const yearS = 365 * 24 * 3600

/** Everything from here, nothing inline, nothing from elsewhere. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

export type StaticFiles = {
  /** The file at `path` below the folder; null when there is none. Never leaves the folder. */
  read(path: string): Promise<{ type: string; data: Buffer; etag: string } | null>
}

/** Files of a folder that does not change while the process lives; read once, then kept (bounded). */
export function createStaticFiles(folder: string): StaticFiles {
  const root = resolve(folder)
  const kept = new Map<string, { type: string; data: Buffer; etag: string }>()
  return {
    async read(path) {
      const known = kept.get(path)
      if (known !== undefined) return known
      const file = resolve(join(root, path))
      const type = types[extname(file)]
      if (!file.startsWith(root + sep) || type === undefined) return null
      const data = await readFile(file).catch(() => null)
      if (data === null || data.length > fileBytesMax) return null
      const etag = `"${createHash('sha256').update(data).digest('base64url').slice(0, 22)}"`
      if (kept.size < filesMax) kept.set(path, { type, data, etag })
      return { type, data, etag }
    },
  }
}

/**
 * Answers with a file. Names with a content hash may be kept for a year, others are asked for again.
 * `frameAncestors` says who may show the page in a frame.
 */
export async function fileAnswer(
  files: StaticFiles | null,
  path: string,
  { frameAncestors, ifNoneMatch }: { frameAncestors: "'none'" | '*'; ifNoneMatch?: string | undefined },
): Promise<Answer> {
  const file = files === null ? null : await files.read(path)
  if (file === null) throw new ServiceError('NOT_FOUND')
  const hashed = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(path) && !path.endsWith('.html')
  const headers = {
    'cache-control': hashed ? `public, max-age=${yearS}, immutable` : 'no-cache',
    'content-security-policy': `${pagePolicy}; frame-ancestors ${frameAncestors}`,
    etag: file.etag,
  }
  if (ifNoneMatch === file.etag) return { status: 304, headers }
  return { status: 200, headers, content: { type: file.type, data: file.data } }
}
