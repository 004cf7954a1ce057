import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { Clock } from '@pitboss/runtime/clock'
import type { WalletClient } from '../clients/wallet.ts'
import { newRound } from '../rules/new-round.ts'
import { receivedAt } from '../rules/received-at.ts'
import { transactionHash } from '../rules/transaction-hash.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import { chainKey } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { OpenIntent, Plan } from './open-intent.ts'
import {
  answerOf,
  type BetBody,
  type OperatorMovements,
  type PlacedTransaction,
  siblingRequest,
} from './operator-movement.ts'
import type { PlaceStake } from './place-stake.ts'

export type OpenOperatorRoundDeps = {
  rounds: Pick<RoundsStore, 'last'>
  commitments: Pick<CommitmentsStore, 'ensure'>
  wallet: Pick<WalletClient, 'assertConfigured'>
  intents: OpenIntent
  placeStake: PlaceStake
  clock: Clock
  newId: (prefix: string) => string
  newUuid: () => string
}

/** Creates the opening of a round by a BET of the operator's own server that names no round. */
export function createOpenOperatorRound({
  rounds,
  commitments,
  wallet,
  intents,
  placeStake,
  clock,
  newId,
  newUuid,
  movements,
}: OpenOperatorRoundDeps & { movements: OperatorMovements }) {
  return async function openOperatorRound(
    caller: Caller,
    body: BetBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { scope } = caller
    const session = await movements.findSession(caller, body)
    const chain = chainKey(scope, session.game, session.playerId)
    const requestHash = transactionHash(body, { currency: session.currency })
    const request = {
      ...siblingRequest(caller, body),
      chain,
      requestHash,
      receivedAt: receivedAt(context),
    }

    async function plan(): Promise<Plan> {
      const { entry, amount, limits } = await movements.checkStake(caller, body, session)
      return {
        last: await rounds.last(chain),
        async make(nonce) {
          const { settleLosses } = await wallet.assertConfigured(scope, context)
          const now = clock.now()
          return newRound({
            session,
            driver: 'operator',
            gameId: entry.gameId,
            commitment: await commitments.ensure(chain, nonce, now),
            clientSeed: null,
            bet: null,
            stake: amount,
            maxPayout: limits.maxPayout,
            grantId: null,
            settleLosses,
            requestHash,
            clientTransactionId: body.transaction_id,
            now,
            newId,
            newUuid,
          })
        },
      }
    }

    const { kind, stored } = await intents.openIntent(request, plan, context)
    if (kind === 'repeat') return movements.answerRepeat(stored, body, context)
    const stake = await placeStake(stored, body.transaction_id, context)
    if (stake.kind === 'placed') return answerOf(stake.placed)
    const sibling = await intents.refuse(request, stake.error)
    return movements.answerRepeat(sibling.stored, body, context)
  }
}
