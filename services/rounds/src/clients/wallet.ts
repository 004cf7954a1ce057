import { shedByCallee } from '@pitboss/bus/call-failure'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallContext, RequestOf } from '@pitboss/contracts/call'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import {
  type MovementSpec,
  placeMovement,
  playerBalance,
  roundMovements,
  showMovement,
  voidStake,
  walletStatus,
} from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { z } from 'zod'
import type { MovementOrder } from '../rules/movement.ts'

export type Placed = z.infer<(typeof placeMovement)['reply']>

/** `not-written`: wallet-bridge certainly does not have it. `unknown`: the answer got lost. */
export type Placement =
  | { readonly kind: 'placed'; readonly placed: Placed }
  | { readonly kind: 'not-written' | 'unknown'; readonly error: ServiceError }

const balanceBudgetMs = 2500
/** Accounts' environments that are known to have a wallet. */
const configuredMax = 10_000
/** Kept for the answer's way back when wallet-bridge has not answered in time. */
const answerReserveMs = 400
/** Time in which wallet-bridge stores what is not to be waited for. */
const atOnceMs = 300

export type Shown = NonNullable<z.infer<(typeof showMovement)['reply']>>
export type WalletClient = ReturnType<typeof createWalletClient>

export function createWalletClient({ bus }: { bus: Pick<Bus, 'call'> }) {
  const configured = new BoundedMap<string, true>(configuredMax)

  return {
    /**
     * Refuses a new stake where there is no wallet; one that is there is never removed. An open breaker does
     * not count: wallet-bridge decides on probes. @throws ServiceError WALLET_NOT_CONFIGURED
     */
    async assertConfigured(scope: Scope, context?: CallContext): Promise<void> {
      const key = scopeKey(scope)
      if (configured.get(key) === true) return
      const status = await bus.call(walletStatus, { scope }, context)
      if (!status.configured) throw new ServiceError('WALLET_NOT_CONFIGURED')
      configured.set(key, true)
    },

    /** Leaves settlement that must not wait to the sweeper. */
    async place(scope: Scope, order: MovementOrder, context?: CallContext): Promise<Placement> {
      if (context?.atOnce === true) return { kind: 'unknown', error: new ServiceError('WALLET_TIMEOUT') }
      try {
        return { kind: 'placed', placed: await bus.call(placeMovement, { scope, ...order }, inTime(context)) }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        return { kind: isRefusedUnwritten(error) ? 'not-written' : 'unknown', error }
      }
    },

    /** @param asked with the time of a stake that is old enough to come from a backup */
    void: (
      scope: Scope,
      asked: { stake: MovementSpec; rollbackTransactionId: string; askedAt?: string },
      context?: CallContext,
    ) => bus.call(voidStake, { scope, ...asked }, inTime(context)),

    show: (scope: Scope, transactionId: string, context?: CallContext) =>
      bus.call(showMovement, { scope, transactionId }, context),

    /** Every movement of a round, at most 500. */
    ofRound: async (scope: Scope, roundId: string) =>
      (await bus.call(roundMovements, { scope, roundId })).data.map(({ movement }) => movement),

    /** The balance of the player, or null when the wallet does not answer within 2.5 s. */
    async balance(
      scope: Scope,
      player: Omit<RequestOf<typeof playerBalance>, 'scope'>,
      context: CallContext,
    ) {
      const deadlineAtMs = Math.min(Date.now() + balanceBudgetMs, context.deadlineAtMs ?? Infinity)
      try {
        const reply = await bus.call(playerBalance, { scope, ...player }, { ...context, deadlineAtMs })
        return reply.balance
      } catch (error) {
        if (error instanceof ServiceError) return null
        throw error
      }
    },
  }
}

/** Ends our wait early enough to answer our own caller about a movement of unknown outcome. */
function inTime(context: CallContext | undefined): CallContext | undefined {
  if (context?.deadlineAtMs === undefined) return context
  const latestAtMs = context.deadlineAtMs - answerReserveMs
  const deadlineAtMs = context.atOnce === true ? Math.min(Date.now() + atOnceMs, latestAtMs) : latestAtMs
  return { ...context, deadlineAtMs }
}

/** INTERNAL_ERROR and SERVICE_UNAVAILABLE may come after a write, unless the call was not begun. */
function isRefusedUnwritten({ code, cause, resource }: ServiceError): boolean {
  if (code === 'SERVICE_UNAVAILABLE')
    return cause === 'disconnected' || cause === 'no-responders' || cause === shedByCallee
  return code !== 'INTERNAL_ERROR' && resource === undefined
}
