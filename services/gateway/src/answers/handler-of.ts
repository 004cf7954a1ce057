import { join } from 'node:path'
import type { Answer, Handler, Inbound } from '../http/inbound.ts'
import { buildOpenApi } from '../openapi/build-openapi.ts'
import type { AddedStep, ForwardCall, OwnAction, RouteEntry } from '../routes/route-entry.ts'
import { routeTable } from '../routes/route-table.ts'
import { createSession } from './create-session.ts'
import { acceptInvitation, login, logout, refresh } from './dashboard-session.ts'
import { createDocs } from './docs.ts'
import { createEventTypes } from './event-types.ts'
import { forward } from './forward.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { jwks } from './jwks.ts'
import { mintToken } from './mint-token.ts'
import { dashboardPage, playPage, verifyPage } from './pages.ts'
import { type ReadinessProbe, readyz } from './readiness.ts'
import { createReconcile } from './reconcile.ts'
import { reportFormat } from './report-format.ts'
import { signManifest } from './sign-manifest.ts'
import { createStaticFiles } from './static-files.ts'
import { verifyRound } from './verify-round.ts'
import { walletCallback } from './wallet-callback.ts'

type Step = (deps: HandlerDeps, call: ForwardCall, inbound: Inbound) => Promise<Answer>

const steps: Readonly<Record<AddedStep | 'answer', Step>> = {
  answer: forward,
  'launch-url': createSession,
  'sign-manifest': signManifest,
  'report-format': reportFormat,
}

/** What answers each row of the route table. */
export function createHandlerOf(deps: HandlerDeps, probe: ReadinessProbe): (entry: RouteEntry) => Handler {
  const files = deps.webFolder === null ? null : createStaticFiles(join(deps.webFolder))
  const reconcile = createReconcile(deps)
  const docs = createDocs()
  const eventTypes = createEventTypes()
  const openapi = createOpenApi(deps)

  const own: Readonly<Record<OwnAction, Handler>> = {
    'mint-token': (inbound) => mintToken(deps, inbound),
    login: (inbound) => login(deps, inbound),
    refresh: (inbound) => refresh(deps, inbound),
    logout: (inbound) => logout(deps, inbound),
    'accept-invitation': (inbound) => acceptInvitation(deps, inbound),
    jwks: (inbound) => jwks(deps, inbound),
    'event-types': () => eventTypes(),
    'verify-round': verifyRound,
    'verify-page': (inbound) => verifyPage(files, inbound),
    openapi: () => openapi(),
    docs,
    'wallet-callback': (inbound) => walletCallback(deps, inbound),
    reconcile,
    healthz: async () => ({ status: 200, json: { status: 'ok' } }),
    readyz: (inbound) => readyz(probe, inbound.context.requestId),
    'play-page': (inbound) => playPage(files, inbound),
    'dashboard-page': (inbound) => dashboardPage(files, inbound),
  }

  return ({ action }) => {
    if (action.kind === 'own') return own[action.name]
    const step = steps[action.then]
    return (inbound) => step(deps, action.call, inbound)
  }
}

function createOpenApi({ baseUrl }: HandlerDeps): () => Promise<Answer> {
  let text: string | null = null
  return async () => {
    text ??= JSON.stringify(buildOpenApi(routeTable, baseUrl))
    const headers = { 'cache-control': 'public, max-age=60' }
    return { status: 200, headers, content: { type: 'application/json; charset=utf-8', data: text } }
  }
}
