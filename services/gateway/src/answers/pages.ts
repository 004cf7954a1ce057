import { ServiceError } from '@pitboss/errors/service-error'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { fileAnswer } from './static-files.ts'

type PageRequest = Pick<Inbound, 'params' | 'raw'>

const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

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
