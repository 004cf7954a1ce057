import type { Caller } from '@pitboss/contracts/caller'
import { toEventEnvironment, idempotencyKey, accountMode } from '@pitboss/contracts/primitives'
import { invalidField } from '@pitboss/errors/service-error'
import { z } from 'zod'
import type { AnswerDeps, Handler, Inbound } from '../http/inbound.ts'
import { withFilters } from '../input/list-cursor.ts'
import { isRepeatedHeader, singleHeader } from '../input/headers.ts'
import type { ForwardCall } from '../routes/route-entry.ts'

const named = z.object({ environment: accountMode })

/**
 * Sends a validated request to the service that answers it.
 * @param added what the gateway knows and the sender does not say
 * @throws ServiceError of the service.
 */
export async function callService(
  { bus }: Pick<AnswerDeps, 'bus'>,
  call: ForwardCall,
  inbound: Inbound,
  added?: object,
): Promise<{ status: number; body?: unknown }> {
  const { params, query, body, context } = inbound
  const request = { caller: callerOf(inbound), params, query, body }
  return bus.call(call, added === undefined ? request : { ...request, added }, context)
}

/** Answers with the service's reply; the cursor of a list carries the list's filters. */
export function forward(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    return body === null || body === undefined
      ? { status }
      : { status, json: withFilters(body, inbound.query) }
  }
}

/**
 * Names the caller and the environment. A machine or a player has the environment of its token; a dashboard
 * user names it in path, query or body. Without a name it is TEST, or both where the route names one object
 * by its id.
 * @throws ServiceError VALIDATION_ERROR path `Idempotency-Key`.
 */
export function callerOf(inbound: Inbound): Caller {
  const { identity, entry, clientAddress } = inbound
  if (identity === null) throw new Error(`${entry.path} has no caller`)
  const chosen = identity.audience === 'dashboard' ? chosenEnvironment(inbound) : identity.mode
  return {
    scope: { operatorId: identity.operatorId, environment: toEventEnvironment(chosen ?? 'TEST') },
    eitherEnvironment: entry.byId && chosen === null,
    account: identity.account,
    actor: identity.actor,
    idempotencyKey: entry.idempotent ? readIdempotencyKey(inbound) : null,
    clientAddress,
  }
}

function chosenEnvironment({ params, query, body }: Inbound): 'TEST' | 'LIVE' | null {
  for (const part of [params, query, body]) {
    const parsed = named.safeParse(part)
    if (parsed.success) return parsed.data.environment
  }
  return null
}

function readIdempotencyKey({ raw }: Inbound): string | null {
  const name = 'Idempotency-Key'
  if (isRepeatedHeader(raw, 'idempotency-key')) throw invalidField(name, 'must not appear twice')
  const text = singleHeader(raw, 'idempotency-key')
  if (text === null) return null
  const parsed = idempotencyKey.safeParse(text)
  if (!parsed.success) throw invalidField(name, 'must be 1 to 128 printable characters')
  return parsed.data
}
