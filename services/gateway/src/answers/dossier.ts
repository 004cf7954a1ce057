import { explain } from '@pitboss/contracts/explain'
import { roundEvents, roundReceipt, roundTransactions } from '@pitboss/contracts/calls/dashboard'
import { dashboardGetRound } from '@pitboss/contracts/endpoints/rounds'
import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { roundSchema } from '@pitboss/contracts/objects/round'
import { verifyRound } from '@pitboss/fairness/verify-round'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { callerOf } from './forward.ts'

/**
 * `GET /v1/dashboard/rounds/{round_id}/dossier`: the round, then in its own environment its movements with
 * their wallet calls, and its events with their deliveries. Four calls, each bounded. Throws as the round's
 * own route does. Source: docs/contract.md, section 3, "Dossier".
 */
export function createDossier({ bus }: Pick<AnswerDeps, 'bus'>, now: () => Date = () => new Date()) {
  return async (inbound: Inbound): Promise<Answer> => {
    const { context, params } = inbound
    const caller = callerOf(inbound)
    const { body } = await bus.call(
      dashboardGetRound.call,
      { caller, params: { round_id: params.round_id ?? '' }, query: {}, body: undefined },
      context,
    )
    const round = roundSchema.parse(body)
    const scope = { ...caller.scope, environment: round.environment }
    const request = { caller: { ...caller, scope, eitherEnvironment: false }, roundId: round.round_id }
    const [transactions, events, { receipt }] = await Promise.all([
      bus.call(roundTransactions, request, context),
      bus.call(roundEvents, request, context),
      bus.call(roundReceipt, request, context),
    ])
    const at = now()
    const dossier: Dossier = {
      round,
      waiting_for: explain({ kind: 'round', round, movements: transactions.data }, at),
      movements: transactions.data.map((facts) => ({
        ...facts,
        waiting_for: explain({ kind: 'movement', facts }, at),
      })),
      events: events.data.map(({ event, deliveries }) => ({
        event,
        deliveries: deliveries.map((facts) => {
          const { wait: _wait, ...delivery } = facts
          return { ...delivery, waiting_for: explain({ kind: 'delivery', facts }, at) }
        }),
      })),
      verification: round.completed_at === null ? null : copyOf(verifyRound(round)),
      receipt,
      complete: transactions.complete && events.complete,
    }
    return { status: 200, json: dossier }
  }
}

function copyOf({ valid, checks }: ReturnType<typeof verifyRound>): Dossier['verification'] {
  return { valid, checks: [...checks] }
}
