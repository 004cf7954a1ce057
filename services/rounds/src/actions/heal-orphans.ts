import { orderedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { startedRound } from '@pitboss/contracts/calls/rounds'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { newRound } from '../rules/new-round.ts'
import { sequenceKey } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

type Heal = {
  readonly scope: Scope
  readonly transactionId: string
  /** The nonce of the lost round, as its events tell it; null when none does. */
  readonly nonce: number | null
  readonly refund: boolean
  readonly order: { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }
}

type Started = z.output<typeof startedRound>

export type HealOrphans = ReturnType<typeof createHealOrphans>

/** wallet-bridge takes the rest of a reversal from its original. */
const ofOriginal = '00000000-0000-0000-0000-000000000000'

/**
 * Creates the work of operations after the database of rounds was restored to an earlier moment: stakes that
 * stand at wallet-bridge without a round, and nonces that events know. Source: docs/runbook.md.
 */
export function createHealOrphans({
  rounds,
  wallet,
  audit,
  clock,
  newId,
  newUuid,
}: Pick<Parts, 'rounds' | 'wallet' | 'clock' | 'newId' | 'newUuid'> & {
  readonly audit: Pick<AuditOutbox, 'entry' | 'store'>
}) {
  return { list, heal, skipNonces }

  /** Of these stakes, those that stand and have no round. */
  async function list(scope: Scope, transactionIds: readonly string[]): Promise<Movement[]> {
    const orphans: Movement[] = []
    for (const id of await rounds.withoutRound(scope, transactionIds)) {
      const shown = await wallet.show(scope, id)
      if (shown?.movement.type === 'BET' && shown.movement.status === 'SUCCESS') orphans.push(shown.movement)
    }
    return orphans
  }

  /**
   * Moves the nonce sequence and gives the stake back; repeating it changes nothing more.
   * @returns the status of the refund; null without one
   * @throws ServiceError TRANSACTION_NOT_FOUND; CONFLICT for a stake that has its round, that does not stand,
   * or whose win is owed or paid; WALLET_TIMEOUT while the outcome is unknown
   */
  async function heal(
    { scope, transactionId, nonce, refund, order }: Heal,
    requestId: string,
  ): Promise<string | null> {
    const shown = await wallet.show(scope, transactionId)
    if (shown === null) throw new ServiceError('TRANSACTION_NOT_FOUND')
    const { movement: stake } = shown
    const [unknown] = await rounds.withoutRound(scope, [transactionId])
    if (unknown === undefined) throw conflict('The stake has its round.')
    if (stake.type !== 'BET') throw conflict('Only a stake is given back.')
    if (refund) await assertRefundable(scope, stake)
    if (order.dryRun) return null
    const entry = audit.entry(orderedBy(order, scope.operatorId, requestId), {
      act: 'round.heal',
      object: { type: 'round', id: stake.round_id },
      before: stake,
      after: { transaction_id: transactionId, nonce, refund },
    })
    await audit.store(entry)
    if (nonce !== null) await skipTo(scope, stake, nonce)
    if (!refund) return null
    const placement = await wallet.place(scope, { spec: refundSpec(stake, shown.driver) })
    if (placement.kind !== 'placed') throw placement.error
    return placement.placed.movement.status
  }

  async function assertRefundable(scope: Scope, stake: Movement): Promise<void> {
    const others = await wallet.ofRound(scope, stake.round_id)
    if (others.some(({ type, status }) => type === 'WIN' && (status === 'SUCCESS' || status === 'PENDING'))) {
      throw conflict('A win of this round is owed or paid.')
    }
    if (stake.status !== 'SUCCESS' && stake.status !== 'REFUNDED') throw conflict('The stake does not stand.')
  }

  /**
   * Moves sequences beyond nonces that events know, also those of rounds whose stake does not stand, or that
   * had none; repeating it changes nothing more.
   * @returns the rounds whose nonce was still to be given out
   */
  async function skipNonces(
    { scope, started, order }: { scope: Scope; started: readonly Started[]; order: Heal['order'] },
    requestId: string,
  ): Promise<Started[]> {
    const lost: Started[] = []
    for (const one of started) {
      if (await rounds.nonceIsFree(sequenceKey(scope, one.game, one.player_id), one.nonce)) lost.push(one)
    }
    const [first] = lost
    if (order.dryRun || first === undefined) return lost
    const entry = audit.entry(orderedBy(order, scope.operatorId, requestId), {
      act: 'round.heal',
      object: { type: 'round', id: first.round_id },
      before: null,
      after: { rounds: lost },
    })
    await audit.store(entry)
    for (const one of lost) await skipTo(scope, one, one.nonce)
    return lost
  }

  async function skipTo(
    scope: Scope,
    { player_id: playerId, game, currency }: Pick<Started, 'player_id' | 'game' | 'currency'>,
    nonce: number,
  ): Promise<void> {
    const now = clock.now()
    const round = newRound({
      session: { _id: '', ...scope, playerId, game, brandId: null, currency, expiresAt: now },
      driver: 'game',
      gameId: ofOriginal,
      clientSeed: null,
      bet: null,
      stake: 0n,
      maxPayout: 0n,
      requestHash: '',
      clientTransactionId: null,
      grantId: null,
      settleLosses: 'none',
      now,
      newId,
      newUuid,
      commitment: { nonce, sealedSeed: '', serverSeedHash: '' },
    })
    const over = { ...round, status: 'VOIDED', stakes: [], completedAt: now, endReason: 'lost' } as const
    await rounds.skipTo(sequenceKey(scope, game, playerId), nonce, over)
  }
}

function refundSpec(stake: Movement, driver: MovementSpec['driver']): MovementSpec {
  return {
    transactionId: `lost_${stake.transaction_id}`.slice(0, 128),
    type: 'REFUND',
    amount: stake.amount,
    currency: stake.currency,
    playerId: stake.player_id,
    sessionId: stake.session_id,
    roundId: stake.round_id,
    walletRoundId: ofOriginal,
    walletGameId: ofOriginal,
    game: stake.game,
    brandId: null,
    freeBet: false,
    roundClosed: true,
    driver,
    referenceTransactionId: stake.transaction_id,
    callWallet: null,
    requestHash: 'lost',
  }
}

function conflict(message: string): ServiceError {
  return new ServiceError('CONFLICT', { message })
}
