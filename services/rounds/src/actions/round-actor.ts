import type { CallContext } from '@pitboss/contracts/call'
import type { MovementOutcome, MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Outbox } from '@pitboss/storage/outbox'
import { outboxEntry } from '@pitboss/storage/outbox-entry'
import type { Logger } from 'pino'
import type { Catalogue } from '../rules/catalogue.ts'
import type { WalletClient } from '../clients/wallet.ts'
import { dueAt, graceMs } from '../rules/due-at.ts'
import { movementMessage } from '../rules/movement-message.ts'
import { nextOwed, type Owed } from '../rules/next-owed.ts'
import type { RoundChange, RoundMessage } from '../rules/round-message.ts'
import { askedBy } from '../rules/operator-round.ts'
import { type AskedFor, isRefusedBy, type Refusal, refusalError, refusalOf } from '../rules/refusal.ts'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { transition } from '../rules/transition.ts'
import { type MovementOrder, reversalOrder, stakeSpec, winSpec } from '../rules/movement-spec.ts'
import { roundCompletedData, roundStartedData } from '../records/present-round.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { RoundsStore, RoundWrite } from '../storage/rounds-store.ts'
import type { Mailbox } from '@pitboss/runtime/mailbox'
import { createRoundContext } from './round-context.ts'

export type RoundActorDeps = {
  rounds: RoundsStore
  commitments: Pick<CommitmentsStore, 'open'>
  grants: Pick<GrantsStore, 'use' | 'giveBack'>
  wallet: WalletClient
  outbox: Pick<Outbox, 'relay'>
  catalogue: Catalogue
  mailbox: Mailbox
  clock: Clock
  newId: (prefix: string) => string
  scaleMs: (ms: number) => number
  logger: Logger
  /** The rules; others than the real ones are for showing that wrong ones would be noticed. */
  rules?: typeof transition
}

/** More than any round owes at once; a bound for the loop, not a rule. */
const stepsMax = 500
const fenceLossesMax = 12
const withdrawalsMax = 5
const changesMax = 10_000

export type RoundActor = ReturnType<typeof createRoundActor>

/**
 * Gives rounds their messages and does what they owe. A round's state alone says what is owed, so whoever comes to it
 * next, on whatever replica, goes on where a crash left it.
 */
export function createRoundActor(deps: RoundActorDeps) {
  const { rounds, grants, wallet, outbox, mailbox, clock, newId, scaleMs, logger } = deps
  const { rules = transition } = deps
  const contextOf = createRoundContext(deps)
  /** When this replica changed which rounds. */
  const changes = new BoundedMap<string, Date>(changesMax)

  /**
   * Applies `message` and writes the result with its events; retries when another replica was first. What
   * an operator's request is refused with is kept with the round, so that no equal one is accepted later.
   * @throws ServiceError what the rules refuse it with.
   */
  async function send(stored: StoredRound, message: RoundMessage): Promise<StoredRound> {
    return (await tell(stored, message)).stored
  }

  /** As `send`; `changed` is false when the message was true already, so that somebody else has done it. */
  async function tell(
    stored: StoredRound,
    message: RoundMessage,
  ): Promise<{ stored: StoredRound; changed: boolean }> {
    return mailbox(stored.round.id, async () => {
      let current = stored
      for (let losses = 0; losses < fenceLossesMax; losses++) {
        const change = rules(current.round, message, contextOf(current.round))
        if (change.kind === 'unchanged') return { stored: current, changed: false }
        if (change.kind === 'refused') {
          const error = refusedWith(change)
          const isNew = change.earlier === undefined && isOfOperator(message)
          const refusal = isNew ? refusalOf(error, askedBy(message), clock.now()) : null
          if (refusal === null || (await rounds.keepRefusal(current, refusal)) !== null) throw error
        } else {
          const written = await rounds.update(current, writeOf(change), change.round.updatedAt)
          if (written !== null) {
            afterWrite(change, message, written.outbox)
            return { stored: written, changed: true }
          }
        }
        const fresh = await rounds.find(scopeOf(current.round), current.round.id)
        if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
        current = fresh
      }
      throw keepsChanging(stored)
    })
  }

  /**
   * Takes back an intent whose asker knows that it has not been written by him. Since a worker that has
   * claimed the round after the intent was stored may place it at any time, it is then kept, stays owed,
   * and its end is found there.
   * @param intended the round as it was when the intent had been stored
   * @param refusal what its asker is told for good when it is taken back; null when he may ask again
   * @returns false when it was kept: then nobody can say that it will have no effect.
   */
  async function withdraw(
    intended: StoredRound,
    transactionId: string,
    refusal: Refusal | null,
  ): Promise<boolean> {
    let current = intended
    for (let losses = 0; losses < withdrawalsMax && current.claims === intended.claims; losses++) {
      const message = { type: 'withdraw', transactionId, refusal } as const
      const change = rules(current.round, message, contextOf(current.round))
      if (change.kind !== 'changed') return !hasMovement(current.round, transactionId)
      if (await rounds.updateUnclaimed(current, writeOf(change), change.round.updatedAt)) {
        afterWrite(change, message)
        return true
      }
      const fresh = await rounds.find(scopeOf(current.round), current.round.id)
      if (fresh === null) break
      current = fresh
    }
    logger.warn({ round_id: intended.round.id, transaction_id: transactionId }, 'intent.left-to-sweeper')
    return false
  }

  /**
   * Keeps what a request about this round was refused with before its intent could be stored.
   * @returns the round when a parallel request was first and its movement has this id
   * @throws `error`, or what an equal request was told before
   */
  async function keepRefusal(stored: StoredRound, error: unknown, asked: AskedFor): Promise<StoredRound> {
    const refusal = refusalOf(error, asked, clock.now())
    if (refusal === null) throw error
    let current = stored
    for (let losses = 0; losses < fenceLossesMax; losses++) {
      const { round } = current
      if (hasMovement(round, asked.transactionId)) return current
      const earlier = round.refusals.find((one) => isRefusedBy(one, asked))
      if (earlier !== undefined) throw refusalError(earlier)
      if ((await rounds.keepRefusal(current, refusal)) !== null) throw error
      const fresh = await rounds.find(scopeOf(round), round.id)
      if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
      current = fresh
    }
    throw keepsChanging(stored)
  }

  /** Inserts a new round; null when the player has an unfinished one, or the nonce is taken. */
  async function open(round: RoundState): Promise<StoredRound | null> {
    const due = dueAt(round, { now: round.createdAt, checks: 0, scaleMs })
    changes.set(round.id, round.updatedAt)
    return rounds.insert({ round, dueAt: due, events: [], fact: null }, round.createdAt)
  }

  /** Tells the round how one of its movements stands. Clients choose ids: a movement of another round tells this one nothing. */
  async function learn(
    stored: StoredRound,
    movement: Movement,
    outcome: MovementOutcome,
  ): Promise<StoredRound> {
    const message = isOf(stored.round, movement) ? movementMessage(movement, outcome) : null
    return message === null ? stored : send(stored, message)
  }

  /** Tells the round how its movements stand by now, where their events may still be on their way. */
  async function catchUp(stored: StoredRound, context?: CallContext): Promise<StoredRound> {
    return learnOf(stored, openIds(stored.round), context)
  }

  /**
   * As `catchUp`, and of stakes that count as taken, too: wallet-bridge has refused what should have been
   * possible.
   */
  async function review(stored: StoredRound, context?: CallContext): Promise<StoredRound> {
    const ids = [...stored.round.stakes.map(({ transactionId }) => transactionId), ...openIds(stored.round)]
    return learnOf(stored, [...new Set(ids)], context)
  }

  async function learnOf(
    stored: StoredRound,
    transactionIds: readonly string[],
    context: CallContext | undefined,
  ): Promise<StoredRound> {
    let current = stored
    for (const transactionId of transactionIds) {
      const shown = await wallet.show(scopeOf(stored.round), transactionId, context)
      if (shown !== null) current = await learn(current, shown.movement, shown.outcome)
    }
    return current
  }

  /**
   * Does what the round owes until nothing more can be done now. What fails or waits for the wallet stays owed and is the sweeper's; it does
   * not hold up what else the round owes.
   * @param recover for workers that have claimed `stored`: also looks after stakes whose asker is gone. Of
   * a round that the operator drives it does what `stored` owes: an intent that is stored after the claim
   * is its asker's to take back.
   */
  async function settle(
    stored: StoredRound,
    { recover, context }: { recover: boolean; context?: CallContext },
  ): Promise<StoredRound> {
    let current = stored
    const stuck = new Set<string>()
    const claimed = recover && stored.round.driver === 'operator' ? new Set(openIds(stored.round)) : null
    const isLeft = (id: string) => stuck.has(id) || (claimed !== null && !claimed.has(id))
    for (let step = 0; step < stepsMax; step++) {
      const owed = nextOwed(current.round, isLeft, recover)
      if (owed === null) return current
      const next = await settleOne(current, owed, context)
      if (next.version === current.version) stuck.add(owed.id)
      current = next
    }
    return current
  }

  /** The round as it was when this could not be done now. */
  async function settleOne(
    stored: StoredRound,
    owed: Owed,
    context: CallContext | undefined,
  ): Promise<StoredRound> {
    const { round } = stored
    switch (owed.kind) {
      case 'grant-use': {
        const used = await grants.use(scopeOf(round), owed.grantId, round.id, clock.now())
        await failpoint('rounds.grant-used')
        return send(stored, { type: used ? 'grant-used' : 'grant-denied' })
      }
      case 'grant-return':
        await grants.giveBack(scopeOf(round), owed.grantId, round.id)
        return send(stored, { type: 'grant-returned' })
      case 'stake':
        return recoverStake(stored, owed.id, context)
      case 'win':
        return settleMovement(stored, { spec: winSpec(round, owed.win) }, context)
      case 'reversal':
        return settleMovement(stored, reversalOrder(round, owed.reversal), context)
    }
  }

  async function settleMovement(
    stored: StoredRound,
    order: MovementOrder,
    context: CallContext | undefined,
  ): Promise<StoredRound> {
    const { round } = stored
    const { spec } = order
    const { transactionId } = spec
    const placement = await wallet.place(scopeOf(round), order, context)
    if (placement.kind === 'not-written' && isOvertaken(round, spec, placement.error)) {
      return review(await send(stored, { type: 'withdraw', transactionId }), context)
    }
    if (placement.kind !== 'placed') {
      logger.warn(
        { err: placement.error, round_id: round.id, transaction_id: transactionId },
        'settlement.deferred',
      )
      return stored
    }
    await failpoint('rounds.settlement-placed')
    return learn(stored, placement.placed.movement, placement.placed.outcome)
  }

  /** A stake whose asker may be gone: learn its result, or void it when it was never asked for, or never can be. */
  async function recoverStake(
    stored: StoredRound,
    transactionId: string,
    context: CallContext | undefined,
  ): Promise<StoredRound> {
    const { round } = stored
    const shown = await wallet.show(scopeOf(round), transactionId, context)
    if (shown !== null && !isOf(round, shown.movement)) {
      return send(stored, { type: 'stake-returned', transactionId, refusal: null })
    }
    if (shown !== null) return learn(stored, shown.movement, shown.outcome)
    if (clock.now().getTime() - round.updatedAt.getTime() < graceMs) return stored
    return voidStake(stored, transactionId, context)
  }

  /** Gives back a stake whatever the wallet knows of it. */
  async function voidStake(
    stored: StoredRound,
    transactionId: string,
    context: CallContext | undefined,
  ): Promise<StoredRound> {
    const { round } = stored
    const stake = round.stakes.find((one) => one.transactionId === transactionId)
    if (stake === undefined) return stored
    const rollbackId =
      round.stakes[0] === stake ? round.rollbackTransactionId : `rbk_${stake.transactionId}`.slice(0, 128)
    const reply = await wallet.void(scopeOf(round), stakeSpec(round, stake), rollbackId, context)
    await failpoint('rounds.stake-voided')
    const { stake: movement, outcome } = reply
    return learn(stored, movement, outcome)
  }

  function writeOf({ round, events, fact }: Extract<RoundChange, { kind: 'changed' }>): RoundWrite {
    return {
      round,
      dueAt: dueAt(round, { now: round.updatedAt, checks: 0, scaleMs }),
      events: events.map((type) =>
        outboxEntry({
          id: newId('evt'),
          type,
          createdAt: round.updatedAt,
          scope: scopeOf(round),
          data: type === 'round.started' ? roundStartedData(round) : roundCompletedData(round),
        }),
      ),
      fact: fact === null ? null : { ...fact, id: newId('fct') },
    }
  }

  function afterWrite(
    { round, events }: Extract<RoundChange, { kind: 'changed' }>,
    message: RoundMessage,
    waiting?: StoredRound['outbox'],
  ): void {
    changes.set(round.id, round.updatedAt)
    if (events.length > 0) void outbox.relay(round.id, waiting)
    if (isUnfinished(round)) return
    logger.info(
      {
        round_id: round.id,
        operator_id: round.operatorId,
        environment: round.environment,
        game: round.game,
        status: round.status,
        by: message.type,
        end_reason: round.endReason,
        duration_ms: round.updatedAt.getTime() - round.createdAt.getTime(),
      },
      'round.ended',
    )
  }

  /** When this replica changed the round last, if it remembers: another may have done so since, but none before. */
  const changedAt = (roundId: string): Date | null => changes.get(roundId) ?? null

  return { open, send, tell, withdraw, keepRefusal, learn, catchUp, review, settle, voidStake, changedAt }
}

function keepsChanging({ round }: StoredRound): ServiceError {
  const cause = new Error(`round ${round.id} kept changing`)
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}

/** Movements without a certain outcome that somebody has to ask for. */
function openIds({ stakes, wins, reversals }: RoundState): string[] {
  return [...stakes, ...wins, ...reversals].flatMap(({ state, transactionId }) =>
    state === 'ASKED' || state === 'OWED' ? [transactionId] : [],
  )
}

function hasMovement({ stakes, wins, reversals }: RoundState, id: string): boolean {
  return [...stakes, ...wins, ...reversals].some(({ transactionId }) => transactionId === id)
}

function isOf({ id }: RoundState, { round_id }: Movement): boolean {
  return round_id === id
}

const overtakenWinCodes: readonly string[] = ['TRANSACTION_CONFLICT', 'ROUND_ALREADY_SETTLED']
const overtakenReversalCodes: readonly string[] = [
  'TRANSACTION_ALREADY_REVERSED',
  'TRANSACTION_NOT_FOUND',
  'TRANSACTION_CONFLICT',
  'CONFLICT',
]

/**
 * Whether what the operator's server asked for will never be: its id belongs to another movement; no stake
 * of a win stands any more; or the stake of a reversal was refused, or given back otherwise, before
 * wallet-bridge heard of it. Kept, it would hold the round for ever.
 */
function isOvertaken({ driver }: RoundState, { type }: MovementSpec, { code }: ServiceError): boolean {
  if (driver !== 'operator') return false
  return (type === 'WIN' ? overtakenWinCodes : overtakenReversalCodes).includes(code)
}

function isOfOperator(
  message: RoundMessage,
): message is Extract<RoundMessage, { type: 'add-stake' | 'add-win' | 'add-reversal' }> {
  return message.type === 'add-stake' || message.type === 'add-win' || message.type === 'add-reversal'
}

function refusedWith({
  code,
  path,
  message,
  earlier,
}: Extract<RoundChange, { kind: 'refused' }>): ServiceError {
  if (earlier !== undefined) return refusalError(earlier)
  if (code === 'VALIDATION_ERROR' && path !== undefined) return invalidField(path, message ?? 'is not valid')
  return message === undefined ? new ServiceError(code) : new ServiceError(code, { message })
}
