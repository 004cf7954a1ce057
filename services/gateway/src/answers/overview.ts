import { deliveryHealth, walletHealth } from '@pitboss/contracts/calls/dashboard'
import type { Caller, Role } from '@pitboss/contracts/caller'
import { listCredentials } from '@pitboss/contracts/endpoints/auth'
import { dashboardGetReport, dashboardListRounds } from '@pitboss/contracts/endpoints/rounds'
import type { overviewSchema } from '@pitboss/contracts/objects/overview'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { callerOf } from './forward.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * `GET /v1/dashboard/overview`: the last 24 hours of an environment, how wallet and deliveries stand, and the
 * facts of the first steps. Five calls, each bounded; a service that does not answer leaves its part null.
 * Source: docs/contract.md, section 3, "Overview".
 */
export function createOverview({ bus }: Pick<AnswerDeps, 'bus'>, now: () => Date = () => new Date()) {
  return async (inbound: Inbound): Promise<Answer> => {
    const { context } = inbound
    const caller = callerOf(inbound)
    const environment = toAccountMode(caller.scope.environment)
    const to = now()
    const from = new Date(to.getTime() - dayMs).toISOString()
    const one = { caller, params: {}, query: { environment, limit: 1 }, body: undefined }
    const report = { ...one, query: { environment, from, group_by: 'currency' } }
    const [play, wallet, deliveries, keys, rounds] = await Promise.all([
      orNull(bus.call(dashboardGetReport.call, report, context)),
      orNull(bus.call(walletHealth, { caller }, context)),
      orNull(bus.call(deliveryHealth, { caller }, context)),
      mayRead(caller, listCredentials.access) ? orNull(bus.call(listCredentials.call, one, context)) : null,
      orNull(bus.call(dashboardListRounds.call, one, context)),
    ])
    const overview: z.infer<typeof overviewSchema> = {
      environment: caller.scope.environment,
      from,
      to: to.toISOString(),
      play: play?.body.data ?? null,
      wallet,
      deliveries,
      steps: {
        key: isSome(keys),
        wallet: wallet?.configured ?? null,
        endpoint: deliveries === null ? null : deliveries.endpoints > 0,
        delivery: deliveries?.ever_delivered ?? null,
        round: isSome(rounds),
      },
    }
    return { status: 200, json: overview }
  }
}

/** Whether a person's role opens a route. */
export function mayRead({ actor }: Caller, { dashboard = [] }: { dashboard?: readonly Role[] }): boolean {
  return actor.kind === 'user' && dashboard.includes(actor.role)
}

function isSome(page: { body: { data: readonly unknown[] } } | null): boolean | null {
  return page === null ? null : page.body.data.length > 0
}

/** Null when the service did not answer. @throws ServiceError any other refusal */
async function orNull<Reply>(reply: Promise<Reply>): Promise<Reply | null> {
  try {
    return await reply
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') return null
    throw error
  }
}
