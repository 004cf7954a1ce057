import { createHash } from 'node:crypto'
import { orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import type { Scope } from '@pitboss/contracts/caller'
import type { opsHealOrphan, opsSkipNonces, startedRound } from '@pitboss/contracts/calls/rounds'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { RoundsContext } from '../context.ts'
import { newRound } from '../rules/new-round.ts'
import { hasMovement, isUnfinished, type RoundState } from '../rules/round.ts'
import { sequenceKey } from '../storage/round-document.ts'

type Skip = RequestOf<typeof opsSkipNonces>
type Started = z.output<typeof startedRound>
type Player = Pick<Started, 'player_id' | 'game' | 'currency'>

export type Healing = Pick<RoundsContext, 'lost' | 'wallet' | 'audit' | 'clock' | 'newId' | 'newUuid'>

/** wallet-bridge takes the rest of a reversal from its original. */
const ofOriginal = '00000000-0000-0000-0000-000000000000'

/* Orphaned stakes and lost nonces after the database of rounds was restored. Source: docs/runbook.md. */

/** Of these stakes, those without a standing round, or whose round has no place: its seed may be known. */
export async function listOrphans(context: Healing, scope: Scope, transactionIds: readonly string[]) {
  const orphans: { movement: Movement; stands: boolean }[] = []
  for (const id of await context.lost.withoutRound(scope, transactionIds)) {
    const movement = (await context.wallet.show(scope, id))?.movement
    if (movement?.type !== 'BET' || hasStake(await findRecent(context, scope, movement), movement)) continue
    const stands = movement.status === 'SUCCESS'
    const hasPlace = () => context.lost.hasPlace(sequenceOf(scope, movement), movement.round_id)
    if (stands || !(await hasPlace())) orphans.push({ movement, stands })
  }
  return orphans
}

/**
 * Moves the nonce sequence, also without a refund, and gives the stake back. Idempotent. @returns the
 * refund's status; null without one. @throws ServiceError TRANSACTION_NOT_FOUND; CONFLICT for a stake that
 * has its round, does not stand, or whose win is owed or paid; WALLET_TIMEOUT while the outcome is unknown
 */
export async function healOrphan(context: Healing, heal: RequestOf<typeof opsHealOrphan>, requestId: string) {
  const { scope, transactionId, nonce, refund, order } = heal
  const shown = await context.wallet.show(scope, transactionId)
  if (shown === null) throw new ServiceError('TRANSACTION_NOT_FOUND')
  const { movement: stake } = shown
  const [unknown] = await context.lost.withoutRound(scope, [transactionId])
  const round = await findRecent(context, scope, stake)
  if (unknown === undefined || hasStake(round, stake)) throw conflict('The stake has its round.')
  if (stake.type !== 'BET') throw conflict('Only a stake is given back.')
  const refusal = refund ? await refundRefusal(context, scope, stake) : null
  if (order.dryRun) {
    if (refusal !== null) throw refusal
    return null
  }
  await context.audit.store(orderedBy(order, scope.operatorId, requestId), {
    act: 'round.heal',
    object: { type: 'round', id: stake.round_id },
    before: stake,
    after: { transaction_id: transactionId, nonce, refund },
  })
  const sequence = sequenceOf(scope, stake)
  const place = placeOf(context, scope, stake)
  if (nonce === null) await context.lost.skipNext(sequence, stake.round_id, place)
  else await context.lost.skipTo(sequence, nonce, place)
  if (refusal !== null) throw refusal
  if (!refund) return null
  // A stake that was added to a round before the backup: the round goes on without it.
  const roundClosed = round === null || !isUnfinished(round)
  const placement = await context.wallet.place(scope, {
    spec: { ...refundSpec(stake, shown.driver), roundClosed },
  })
  if (placement.kind !== 'placed') throw placement.error
  return placement.placed.movement.status
}

function findRecent(context: Healing, scope: Scope, movement: Movement): Promise<RoundState | null> {
  return context.lost.findRecent(sequenceOf(scope, movement), movement.round_id)
}

async function refundRefusal(context: Healing, scope: Scope, stake: Movement): Promise<ServiceError | null> {
  const others = await context.wallet.ofRound(scope, stake.round_id)
  if (others.some(({ type, status }) => type === 'WIN' && (status === 'SUCCESS' || status === 'PENDING')))
    return conflict('A win of this round is owed or paid.')
  const stands = stake.status === 'SUCCESS' || stake.status === 'REFUNDED'
  return stands ? null : conflict('The stake does not stand.')
}

/** Moves sequences beyond nonces of events, standing stake or not. @returns rounds whose nonce was free */
export async function skipNonces(context: Healing, skip: Skip, requestId: string): Promise<Started[]> {
  const { scope, rounds: started, order } = skip
  const skipped: Started[] = []
  for (const one of started) {
    if (await context.lost.nonceIsFree(sequenceOf(scope, one), one.nonce)) skipped.push(one)
  }
  const [first] = skipped
  if (order.dryRun || first === undefined) return skipped
  await context.audit.store(orderedBy(order, scope.operatorId, requestId), {
    act: 'round.heal',
    object: { type: 'round', id: first.round_id },
    before: null,
    after: { rounds: skipped },
  })
  for (const one of skipped)
    await context.lost.skipTo(sequenceOf(scope, one), one.nonce, placeOf(context, scope, one))
  return skipped
}

/** A round that is over, for the place of a lost one. */
function placeOf({ clock, newId, newUuid }: Healing, scope: Scope, player: Player): RoundState {
  const { player_id: playerId, game, currency } = player
  const now = clock.now()
  const round = newRound({
    session: { _id: '', ...scope, playerId, game, brandId: null, currency, expiresAt: now },
    driver: 'game',
    ...{ gameId: ofOriginal, clientSeed: null, bet: null, stake: 0n, maxPayout: 0n, requestHash: '' },
    ...{ clientTransactionId: null, grantId: null, now, newId, newUuid },
    commitment: { nonce: 0, sealedSeed: '', serverSeedHash: '' },
  })
  return { ...round, status: 'VOIDED', stakes: [], completedAt: now, endReason: 'lost' }
}

function sequenceOf(scope: Scope, { game, player_id }: Pick<Player, 'game' | 'player_id'>): string {
  return sequenceKey(scope, game, player_id)
}

const idCharactersMax = 128

/** The id of the refund of a lost stake follows from its id, so that healing twice gives back once. */
function refundId(stakeId: string): string {
  const id = `lost_${stakeId}`
  return id.length <= idCharactersMax ? id : `lost_${createHash('sha256').update(stakeId).digest('hex')}`
}

function refundSpec(stake: Movement, driver: MovementSpec['driver']): Omit<MovementSpec, 'roundClosed'> {
  return {
    transactionId: refundId(stake.transaction_id),
    type: 'REFUND',
    amount: stake.amount,
    currency: stake.currency,
    playerId: stake.player_id,
    sessionId: stake.session_id,
    roundId: stake.round_id,
    game: stake.game,
    ...{ walletRoundId: ofOriginal, walletGameId: ofOriginal, requestHash: 'lost', driver },
    ...{ brandId: null, freeBet: false, callWallet: null, referenceTransactionId: stake.transaction_id },
  }
}

function hasStake(round: RoundState | null, stake: Movement): boolean {
  return round !== null && hasMovement(round, stake.transaction_id)
}
