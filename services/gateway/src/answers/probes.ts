import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import { listPublicKeys, listRecordKeys } from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import type { ReadinessCheck } from '@pitboss/runtime/probe-server'
import { z } from 'zod'
import type { AccessState } from '../access/access-state.ts'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import { errorAnswer } from '../http/send.ts'

const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
const pingTimeoutMs = 1000
/** Probes come often; the services are asked once in this time. */
const keptMs = 250

/** Reply of both probes. Source: docs/contract.md, section 9. */
export const healthReply = z.strictObject({ status: z.string() })

type Missing = { readonly name: string; readonly problem: string }
export type ReadinessProbe = () => Promise<readonly Missing[]>

/**
 * Finds what keeps the gateway from serving: NATS, the access bucket, a service. Source: docs/contract.md,
 * section 9.
 */
export function createReadinessProbe({ bus, access }: { bus: Bus; access: AccessState }): ReadinessProbe {
  let last: { readonly result: Promise<readonly Missing[]>; readonly atMs: number } | null = null

  async function look(): Promise<readonly Missing[]> {
    if (!bus.connected()) return [{ name: 'nats', problem: 'not connected' }]
    const pings = services.map(async (name) =>
      (await answers(bus, name)) ? [] : [{ name, problem: 'does not answer' }],
    )
    const bucket = access.alive()
      ? []
      : [{ name: 'revocation-bucket', problem: 'no heartbeat for 5 s; tokens are refused' }]
    const broker = (await brokerAnswers(bus)) ? [] : [{ name: 'nats', problem: 'does not answer' }]
    return [...broker, ...bucket, ...(await Promise.all(pings)).flat()]
  }

  return () => {
    const nowMs = performance.now()
    if (last === null || nowMs - last.atMs > keptMs) last = { result: look(), atMs: nowMs }
    return last.result
  }
}

export type OwnChecks = Readonly<Record<'nats' | 'revocation-bucket', ReadinessCheck>>

/**
 * The conditions under which this gateway itself can serve, for its probe port: NATS answers, and the access
 * bucket has been heard since the start. A service that is down, or a bucket that falls silent later because
 * auth is down, is the same at every gateway, and none must leave the load balancer for it. Source:
 * docs/contract.md, section 9.
 */
export function createOwnChecks({ bus, access }: { bus: Bus; access: AccessState }): OwnChecks {
  return {
    nats: () => bus.connected() && brokerAnswers(bus),
    'revocation-bucket': () => access.heard(),
  }
}

/** `GET /healthz` */
export function createHealthz(): Handler {
  return async () => ({ status: 200, json: { status: 'ok' } })
}

/** `GET /readyz`: 200, or 503 naming what is missing, in the envelope of every error. */
export function createReadyz({ missing: probe }: AnswerDeps): Handler {
  return async ({ context }) => {
    const missing = await probe()
    if (missing.length === 0) return { status: 200, json: { status: 'ready' } }
    const error = new ServiceError('SERVICE_UNAVAILABLE', {
      message: `Not ready: ${missing.map(({ name }) => name).join(', ')}.`,
      details: missing.map(({ name, problem }) => ({ path: name, message: problem })),
    })
    return errorAnswer(error, context.requestId)
  }
}

/** `GET /v1/public/jwks.json`. Short-lived in caches, so that a rotation is seen in time. */
export function createPublicKeys({ bus }: AnswerDeps): Handler {
  return async ({ context }) => {
    const { keys } = await bus.call(listPublicKeys, {}, context)
    return { status: 200, headers: { 'cache-control': 'public, max-age=60' }, json: { keys } }
  }
}

/** `GET /v1/public/record-keys.json`: the keys of signed records, those of years ago too. */
export function createRecordKeys({ bus }: AnswerDeps): Handler {
  return async ({ context }) => {
    const { keys } = await bus.call(listRecordKeys, {}, context)
    return { status: 200, headers: { 'cache-control': 'public, max-age=60' }, json: { keys } }
  }
}

/**
 * Asks the broker. A server that hangs keeps its connections, which the bus counts as lost only after
 * seconds.
 */
async function brokerAnswers(bus: Bus): Promise<boolean> {
  const silence = delay(pingTimeoutMs, false, { ref: false })
  const pong = bus.nc.flush().then(
    () => true,
    () => false,
  )
  return Promise.race([pong, silence])
}

function answers(bus: Bus, service: string): Promise<boolean> {
  return bus.request(`$SRV.PING.${service}`, { timeoutMs: pingTimeoutMs }).then(
    () => true,
    () => false,
  )
}
