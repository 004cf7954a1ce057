import type { Call, CallerName } from './call.ts'
import * as approvals from './calls/approvals.ts'
import * as auth from './calls/auth.ts'
import * as authOps from './calls/auth-ops.ts'
import * as dashboard from './calls/dashboard.ts'
import * as reconciliations from './calls/reconciliations.ts'
import * as rounds from './calls/rounds.ts'
import * as seals from './calls/seals.ts'
import * as wallet from './calls/wallet.ts'
import * as walletOps from './calls/wallet-ops.ts'
import * as webhooks from './calls/webhooks.ts'
import * as approvalRoutes from './endpoints/approvals.ts'
import * as authRoutes from './endpoints/auth.ts'
import * as eventRoutes from './endpoints/events.ts'
import * as flagRoutes from './endpoints/flags.ts'
import * as peopleRoutes from './endpoints/people.ts'
import * as playRoutes from './endpoints/play.ts'
import * as playerRoutes from './endpoints/players.ts'
import * as reconciliationRoutes from './endpoints/reconciliations.ts'
import * as roundRoutes from './endpoints/rounds.ts'
import * as sessionRoutes from './endpoints/sessions.ts'
import * as walletRoutes from './endpoints/wallet.ts'
import * as webhookRoutes from './endpoints/webhooks.ts'

const callModules = [
  approvals,
  auth,
  authOps,
  dashboard,
  reconciliations,
  rounds,
  seals,
  wallet,
  walletOps,
  webhooks,
]
const routeModules = [
  approvalRoutes,
  authRoutes,
  eventRoutes,
  flagRoutes,
  peopleRoutes,
  playRoutes,
  playerRoutes,
  reconciliationRoutes,
  roundRoutes,
  sessionRoutes,
  walletRoutes,
  webhookRoutes,
]

/** The part of a call that says who asks whom. */
export type DefinedCall = Pick<
  Call<unknown, unknown>,
  'subject' | 'service' | 'callers' | 'token' | 'isAudited'
>

/** Every call that is defined in `calls/` and `endpoints/`: all that may be asked over NATS. Source: ours. */
export const definedCalls: readonly DefinedCall[] = [...callModules, ...routeModules].flatMap((module) =>
  Object.values<unknown>(module).flatMap(callsIn),
)

/** The subjects that `caller` asks, sorted. */
export function subjectsAskedBy(caller: CallerName): string[] {
  return definedCalls
    .filter(({ callers }) => callers.includes(caller))
    .map(({ subject }) => subject)
    .toSorted()
}

/** The services that answer them, sorted. */
export function servicesAskedBy(caller: CallerName): string[] {
  const asked = definedCalls.filter(({ callers }) => callers.includes(caller))
  return [...new Set(asked.map(({ service }) => service))].toSorted()
}

/** A call itself, the call of an endpoint, or the calls of a group such as those of a rewind. */
function callsIn(value: unknown): DefinedCall[] {
  if (isCall(value)) return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values({ ...value }).filter(isCall)
}

function isCall(value: unknown): value is DefinedCall {
  return typeof value === 'object' && value !== null && 'subject' in value && 'callers' in value
}

/** The calls whose changes leave an audit record. Source: docs/contract.md, section 12. */
export const auditedCalls: readonly DefinedCall[] = definedCalls.filter(({ isAudited }) => isAudited)
