import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { ServiceError } from '@pitboss/errors/service-error'
import Negotiator from 'negotiator'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { acceptWeights } from '../input/accept-weights.ts'

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

/** Types that shrink; pictures and fonts are compressed already. */
const compressible = new Set(['.html', '.js', '.css', '.json', '.svg', '.txt', '.wasm'])
const compressFromBytes = 1024
const filesMax = 500
const fileBytesMax = 8 * 1024 * 1024
const yearS = 365 * 24 * 3600

const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/** The policy of pages: everything from this origin, nothing inline. */
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

/** That of the pages that are built here: no text becomes script there, and no policy lets any. */
const builtPagePolicy = `${pagePolicy}; require-trusted-types-for 'script'; trusted-types 'none'`

/** A page of another site that opened this one has no hold of its window. */
export const ownWindow = { 'cross-origin-opener-policy': 'same-origin' } as const

type PageRequest = Pick<Inbound, 'params' | 'raw'>
type Encoded = { readonly data: Buffer; readonly etag: string }
type StaticFile = Encoded & {
  readonly type: string
  /** The file in other encodings, the shortest first; empty where that gains nothing. */
  readonly encoded: readonly (Encoded & { readonly encoding: 'br' | 'gzip' })[]
}

export type StaticFiles = {
  /** The file at `path` below the folder; null when there is none. Never leaves the folder. */
  read(path: string): Promise<StaticFile | null>
}

const compress = promisify(gzip)

/**
 * `/play/{game}`: the game's own page or the common one; `/play/assets/*`: their files. May be framed by
 * operators.
 */
export function createPlayPage({ pages }: Pick<AnswerDeps, 'pages'>) {
  return async ({ params, raw }: PageRequest): Promise<Answer> => {
    const rest = params['*'] ?? ''
    const options = { frameAncestors: '*', headers: raw.headers } as const
    if (!slugPattern.test(rest)) return fileAnswer(pages, `play/${assetPath(rest)}`, options)
    const page = `play/${rest}.html`
    const known = pages !== null && (await pages.read(page)) !== null
    return fileAnswer(pages, known ? page : 'play/index.html', options)
  }
}

/** The builder's form of a script's name: the page, and a hash of what is in it. */
const scriptPattern = /^(?<page>.+)-[A-Za-z0-9_-]{8}\.js$/

/** The page of games, by its name, whose script `build` is; null for none that is served here. */
export async function servedPage(pages: StaticFiles | null, build: string): Promise<string | null> {
  const page = scriptPattern.exec(build)?.groups?.page
  if (pages === null || page === undefined || !slugPattern.test(page)) return null
  const file = await pages.read(`play/${page}.html`)
  return file?.data.includes(`src="/play/assets/${build}"`) === true ? page : null
}

/** `GET /`: leads a browser to the dashboard; for everybody else there is nothing here. */
export function createHome() {
  return async ({ raw }: PageRequest): Promise<Answer> => {
    const weight = acceptWeights(raw.headers.accept).get('text/html') ?? 0
    if (weight === 0) throw new ServiceError('NOT_FOUND')
    return { status: 302, headers: { location: '/dashboard', 'cache-control': 'no-store', vary: 'accept' } }
  }
}

/** `/dashboard*`: files below `assets/`, else the one page, whose own router does the rest. */
export function createDashboardPage({ pages }: Pick<AnswerDeps, 'pages'>) {
  return async ({ params, raw }: PageRequest): Promise<Answer> => {
    const rest = params['*'] ?? ''
    const file = rest.startsWith('assets/') ? assetPath(rest) : 'index.html'
    return fileAnswer(pages, `dashboard/${file}`, { frameAncestors: "'none'", headers: raw.headers })
  }
}

/** `GET /v1/public/verify` and `/v1/public/verify/assets/*`. */
export function createVerifyPage({ pages }: Pick<AnswerDeps, 'pages'>) {
  return async ({ params, raw }: PageRequest): Promise<Answer> => {
    const rest = params['*'] ?? ''
    const file = rest === '' ? 'index.html' : assetPath(rest)
    return fileAnswer(pages, `verify/${file}`, { frameAncestors: "'none'", headers: raw.headers })
  }
}

function assetPath(rest: string): string {
  if (!/^assets\/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(rest)) throw new ServiceError('NOT_FOUND')
  return rest
}

/**
 * Files of a folder that does not change while the process lives; read and compressed once, then kept
 * (bounded).
 */
export function createStaticFiles(folder: string): StaticFiles {
  const root = resolve(folder)
  const kept = new Map<string, StaticFile>()
  return {
    async read(path) {
      const known = kept.get(path)
      if (known !== undefined) return known
      const file = resolve(join(root, path))
      const type = types[extname(file)]
      if (!file.startsWith(root + sep) || type === undefined) return null
      const data = await readFile(file).catch(() => null)
      if (data === null || data.length > fileBytesMax) return null
      const hash = createHash('sha256').update(data).digest('base64url').slice(0, 22)
      const shrinks = compressible.has(extname(file)) && data.length >= compressFromBytes
      const found = {
        type,
        data,
        etag: `"${hash}"`,
        encoded: shrinks ? [...(await brotliOf(file, hash)), await gzipOf(data, hash)] : [],
      }
      if (kept.size < filesMax) kept.set(path, found)
      return found
    },
  }
}

/** The brotli form that the build of the pages has put beside a file; making one takes long. */
async function brotliOf(file: string, hash: string): Promise<StaticFile['encoded']> {
  const data = await readFile(`${file}.br`).catch(() => null)
  return data === null ? [] : [{ encoding: 'br', data, etag: `"${hash}-br"` }]
}

async function gzipOf(data: Buffer, hash: string): Promise<StaticFile['encoded'][number]> {
  const level = constants.Z_BEST_COMPRESSION
  return { encoding: 'gzip', data: await compress(data, { level }), etag: `"${hash}-gzip"` }
}

/**
 * Answers with a file, in the shortest encoding that the client takes. Caches keep a name with a content hash
 * for a year and ask again for any other. `frameAncestors` names the sites that may show the page in a frame.
 */
export async function fileAnswer(
  files: StaticFiles | null,
  path: string,
  { frameAncestors, headers: asked }: { frameAncestors: "'none'" | '*'; headers: IncomingHttpHeaders },
): Promise<Answer> {
  const file = files === null ? null : await files.read(path)
  if (file === null) throw new ServiceError('NOT_FOUND')
  const hashed = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(path) && !path.endsWith('.html')
  const takes = new Negotiator({ headers: asked })
  const encoded = file.encoded.find(({ encoding }) => takes.encoding([encoding]) === encoding)
  const { data, etag } = encoded ?? file
  const headers = {
    'cache-control': hashed ? `public, max-age=${yearS}, immutable` : 'no-cache',
    'content-security-policy': `${builtPagePolicy}; frame-ancestors ${frameAncestors}`,
    // An operator may open a game in a window of its own, and look when that closes.
    ...(frameAncestors === '*' ? {} : ownWindow),
    etag,
    ...(file.encoded.length === 0 ? {} : { vary: 'accept-encoding' }),
  }
  if (asked['if-none-match'] === etag) return { status: 304, headers }
  return {
    status: 200,
    headers: encoded === undefined ? headers : { ...headers, 'content-encoding': encoded.encoding },
    content: { type: file.type, data },
  }
}
