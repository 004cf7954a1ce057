import type { Call } from '@pitboss/contracts/call'
import { mismatchOf, type TokenMismatch } from '@pitboss/contracts/call-token'
import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Actor } from '@pitboss/contracts/caller'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { Bus } from './connect-bus.ts'
import type { Jwks } from './key-set.ts'
import { createTokenVerifier } from './verify-token.ts'

/** `accept` serves calls without a token, for the time of an upgrade; a bad one is refused all the same. */
export type CallTokenMode = 'require' | 'accept'

/** `edge`: the token of a client, which the gateway keeps to itself. */
type Reason = TokenMismatch | 'missing' | 'invalid' | 'expired' | 'edge'

export type CallTokens = {
  /**
   * Checks the token that came with a call against the caller whom the request names.
   * @throws ServiceError INTERNAL_ERROR when it does not bear him out: the gateway has judged it before, so
   * it is no fault of a client. SERVICE_UNAVAILABLE when the keys cannot be asked.
   */
  admit<Request>(
    call: Pick<Call<Request, unknown>, 'subject' | 'token'>,
    request: Request,
    sent: { token: string | null; requestId: string },
  ): Promise<void>
}

/** Asks auth for the public keys of tokens. */
export function keysFromAuth(bus: Pick<Bus, 'call'>): () => Promise<Jwks> {
  return async () => (await bus.call(listPublicKeys, {})).keys
}

/** An hour of tokens of a busy process: one of each server, and of each player at play. */
const verifiedMax = 4096
/** A key that was taken back ends here after this time, for a process at work. */
const keysMaxAgeMs = 60_000

/**
 * The check of tokens by the service that is asked. A refusal is logged as `security.call-refused` and
 * counted. Source: docs/decisions/2026-11-23-services-check-tokens.md.
 */
export function createCallTokens({
  loadKeys,
  mode,
  logger,
  registry,
  nowMs = Date.now,
}: {
  loadKeys: () => Promise<Jwks>
  mode: CallTokenMode
  logger: Pick<Logger, 'warn'>
  registry?: Registry | undefined
  nowMs?: () => number
}): CallTokens {
  const verifier = createTokenVerifier({ loadKeys, logger, nowMs, verifiedMax, keysMaxAgeMs })
  const refused = new Counter({
    name: 'pitboss_calls_without_good_token_total',
    help: 'Calls whose token did not bear out the caller that they name',
    labelNames: ['reason'],
    registers: registry === undefined ? [] : [registry],
  })

  return {
    async admit({ subject, token: rule }, request, { token, requestId }) {
      if ('none' in rule) return
      let found: Reason | null = 'missing'
      if (token !== null) {
        const judged = await judge(token, rule.leewayS)
        found = 'claims' in judged ? mismatchOf(rule, judged.claims, request) : judged.reason
      }
      if (found === null) return
      refused.inc({ reason: found })
      if (found === 'missing' && mode === 'accept') return
      const { operatorIds, environment, actor } = rule.named(request)
      logger.warn(
        {
          subject,
          request_id: requestId,
          reason: found,
          operator_id: operatorIds[0],
          environment,
          actor: loggedActor(actor),
        },
        'security.call-refused',
      )
      throw new ServiceError('INTERNAL_ERROR', { cause: new Error(`call refused by its token: ${found}`) })
    },
  }

  async function judge(token: string, leewayS: number) {
    try {
      const claims = await verifier.verify(token, leewayS)
      return claims.fwd === undefined ? { claims } : { reason: 'edge' as const }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (error.code === 'INVALID_CREDENTIALS') return { reason: 'invalid' as const }
      if (error.code === 'TOKEN_EXPIRED') return { reason: 'expired' as const }
      throw error
    }
  }
}

/** The caller as a log line names it: a person by ids, without the e-mail address. */
function loggedActor(actor: Actor | null) {
  if (actor?.kind !== 'user') return actor
  const { email: _, ...logged } = actor
  return logged
}
