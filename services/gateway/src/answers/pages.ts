import { ServiceError } from '@pitboss/errors/service-error'
import type { Answer, Inbound } from '../http/inbound.ts'
import { fileAnswer, type StaticFiles } from './static-files.ts'

type PageRequest = Pick<Inbound, 'params' | 'raw'>

const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/** `/play/{game}`: the game's own page or the common one; `/play/assets/*`: their files. May be framed by operators. */
export async function playPage(files: StaticFiles | null, { params, raw }: PageRequest): Promise<Answer> {
  const rest = params['*'] ?? ''
  const options = { frameAncestors: '*', headers: raw.headers } as const
  if (slugPattern.test(rest)) {
    const page = `play/${rest}.html`
    const known = files !== null && (await files.read(page)) !== null
    return fileAnswer(files, known ? page : 'play/index.html', options)
  }
  return fileAnswer(files, `play/${assetPath(rest)}`, options)
}

/** `/dashboard*`: files below `assets/`, else the one page, whose own router does the rest. */
export async function dashboardPage(
  files: StaticFiles | null,
  { params, raw }: PageRequest,
): Promise<Answer> {
  const rest = params['*'] ?? ''
  const options = { frameAncestors: "'none'", headers: raw.headers } as const
  if (rest.startsWith('assets/')) return fileAnswer(files, `dashboard/${assetPath(rest)}`, options)
  return fileAnswer(files, 'dashboard/index.html', options)
}

/** `GET /v1/public/verify` and `/v1/public/verify/assets/*`. */
export async function verifyPage(files: StaticFiles | null, { params, raw }: PageRequest): Promise<Answer> {
  const rest = params['*'] ?? ''
  const options = { frameAncestors: "'none'", headers: raw.headers } as const
  if (rest === '') return fileAnswer(files, 'verify/index.html', options)
  return fileAnswer(files, `verify/${assetPath(rest)}`, options)
}

function assetPath(rest: string): string {
  if (!/^assets\/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(rest)) throw new ServiceError('NOT_FOUND')
  return rest
}
