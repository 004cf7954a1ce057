import { mintLaunchToken, signDocument } from '@pitboss/contracts/calls/auth'
import { csvField } from '@pitboss/contracts/csv-field'
import { reportSchema } from '@pitboss/contracts/objects/report'
import { manifestSchema } from '@pitboss/contracts/endpoints/events'
import { sessionSchema } from '@pitboss/contracts/objects/session'
import { manifestType } from '@pitboss/contracts/token-claims'
import { z } from 'zod'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import { acceptWeights } from '../input/accept-weights.ts'
import type { ForwardCall } from '../routes/route-entry.ts'
import { callerOf, callService } from './forward.ts'

/** Replies of services to which the gateway adds its part. */

/**
 * A player can finish a round, and is told SESSION_EXPIRED and not TOKEN_EXPIRED. Source: docs/contract.md,
 * section 11.
 */
const tokenOutlivesSessionMs = 30 * 60_000

const columns = [
  'day',
  'game',
  'brand',
  'currency',
  'rounds',
  'players',
  'stakes',
  'payouts',
  'refunds',
  'ggr',
  'adjustments',
  'restated_at',
] as const

/** The answer of a session's creation: the gateway adds the address with the player's token. */
export const launchedSessionSchema = sessionSchema.extend({ launch_url: z.string() })

/** The answer of the manifest's route: the gateway adds a compact JWS by the current token key. */
export const signedManifestSchema = manifestSchema.extend({ signature: z.string() })

/**
 * `POST /v1/sessions`: the session of the rounds service with a launch url. The token is in the fragment, so
 * it reaches no log.
 */
export function launchSession(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    const session = sessionSchema.parse(body)
    const expiresAt = new Date(Date.parse(session.expires_at) + tokenOutlivesSessionMs).toISOString()
    const { scope } = callerOf(inbound)
    const request = { scope, sessionId: session.session_id, expiresAt }
    const { token } = await deps.bus.call(mintLaunchToken, request, inbound.context)
    const launchUrl = `${deps.baseUrl}/play/${encodeURIComponent(session.game)}#token=${token}`
    return { status, json: { ...session, launch_url: launchUrl } }
  }
}

/**
 * `GET /v1/events/manifest`: the manifest and, in `signature`, a compact JWS over it by the current token
 * key.
 */
export function signManifest(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    const manifest = manifestSchema.parse(body)
    const request = { typ: manifestType, payload: manifest }
    const { jws } = await deps.bus.call(signDocument, request, inbound.context)
    return { status, json: { ...manifest, signature: jws } }
  }
}

/** `reports/summary` as JSON, or as CSV for `Accept: text/csv`. */
export function reportFormat(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    if (!wantsCsv(inbound.raw.headers.accept)) return { status, json: body }
    return {
      status,
      content: { type: 'text/csv; charset=utf-8', data: toCsv(reportSchema.parse(body).data) },
    }
  }
}

/** Whether the Accept header asks for CSV more than for JSON. */
function wantsCsv(accept: string | undefined): boolean {
  const weights = acceptWeights(accept)
  const csv = weights.get('text/csv') ?? 0
  return csv > 0 && csv >= (weights.get('application/json') ?? 0)
}

type Row = ReturnType<typeof reportSchema.parse>['data'][number]

function toCsv(rows: readonly Row[]): string {
  const optional = new Set<string>(['day', 'game', 'brand', 'restated_at'])
  const shown = columns.filter(
    (column) => !optional.has(column) || rows.some((row) => row[column] !== undefined),
  )
  const lines = rows.map((row) => shown.map((column) => csvField(String(row[column] ?? ''))).join(','))
  return `${[shown.join(','), ...lines].join('\r\n')}\r\n`
}
