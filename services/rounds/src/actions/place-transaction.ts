import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import type { Movement, TransactionBody } from '@pitboss/contracts/objects/movement'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { RoundActor } from './round-actor.ts'
import type { Placed, WalletClient } from '../clients/wallet.ts'
import { isWithin, narrow } from '../rules/limits.ts'
import { assertRealMoney } from '../rules/live-rules.ts'
import { refusalOf } from '../rules/refusal.ts'
import type { Reversal, RoundState, Stake, Win } from '../rules/round.ts'
import { type MovementOrder, reversalOrder, winSpec } from '../rules/movement-spec.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import { chainKey, scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { type SessionDocument, type SessionsStore, stakeRangeOf } from '../storage/sessions-store.ts'
import { assertReferenceFits } from '../rules/assert-reference-fits.ts'
import type { GameAccess } from './game-access.ts'
import type { JoinMovement } from './join-movement.ts'
import { newRound } from '../rules/new-round.ts'
import { findSibling, type OpenIntent } from './open-intent.ts'
import { type PlacedStake, type PlaceStake, resourceOf } from './place-stake.ts'
import { assertSessionOpen } from './play-round.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'
import { receivedAt } from '../rules/received-at.ts'
import { transactionHash } from '../rules/transaction-hash.ts'

type Body<Type extends TransactionBody['type']> = Extract<TransactionBody, { type: Type }>
type ReversalBody = Extract<TransactionBody, { reference_transaction_id: string }>

type PlaceTransactionDeps = {
  rounds: RoundsStore
  sessions: Pick<SessionsStore, 'find'>
  commitments: Pick<CommitmentsStore, 'ensure'>
  wallet: WalletClient
  actor: RoundActor
  access: Pick<GameAccess, 'find' | 'offered'>
  intents: OpenIntent
  placeStake: PlaceStake
  joinMovement: JoinMovement
  clock: Clock
  newId: (prefix: string) => string
  newUuid: () => string
}

export type PlacedTransaction = { status: 201 | 200; body: Movement }

export type PlaceTransaction = ReturnType<typeof createPlaceTransaction>

const unforeseenCodes: readonly string[] = [
  'CONFLICT',
  'ROUND_ALREADY_SETTLED',
  'ROUND_IN_PROGRESS',
  'TRANSACTION_ALREADY_REVERSED',
  'TRANSACTION_NOT_FOUND',
]

/** `POST /v1/transactions`: the movements of rounds that the operator's own server drives. Contract sections 5 and 11. */
export function createPlaceTransaction(deps: PlaceTransactionDeps) {
  const { rounds, sessions, commitments, wallet, actor, access, clock } = deps
  const { intents, placeStake, joinMovement } = deps

  return async function placeTransaction(
    caller: Caller,
    body: TransactionBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    judgeAmount(body.amount, body.currency, 'amount')
    const earlier = await findSibling(rounds, requestOf(caller, body))
    if (earlier !== null) return answerRepeat(earlier, body, context)
    if (body.type === 'BET')
      return body.round_id === undefined
        ? openRound(caller, body, context)
        : addStake(caller, body, body.round_id, context)
    if (body.type === 'WIN') return addWin(caller, body, context)
    return reverse(caller, body, context)
  }

  /** The same request again: the same record or the same error, and nothing moves. */
  async function answerRepeat(
    { round }: StoredRound,
    body: TransactionBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { transaction_id: transactionId } = body
    const known = movementOf(round, body)
    if (known === null) throw new ServiceError('TRANSACTION_CONFLICT')
    const { movement, outcome } = await joinMovement(round, transactionId, context)
    if (outcome.kind === 'refused') throw new ServiceError(outcome.code)
    if (outcome.kind === 'pending') {
      throw new ServiceError(outcome.code, { resource: resourceOf(round, known) })
    }
    return { status: 200, body: movement }
  }

  async function openRound(
    caller: Caller,
    body: Body<'BET'>,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { scope } = caller
    const session = await findSession(caller, body)
    const chain = chainKey(scope, session.game, session.playerId)
    const requestHash = transactionHash(body, { currency: session.currency })
    const received = receivedAt(context)
    const request = { ...requestOf(caller, body), chain, requestHash, receivedAt: received }
    const plan = async () => {
      const { entry, amount, limits } = await checkStake(caller, body, session)
      return {
        last: await rounds.last(chain),
        async make(nonce: number) {
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
            newId: deps.newId,
            newUuid: deps.newUuid,
          })
        },
      }
    }
    const { kind, stored } = await intents.openIntent(request, plan, context)
    if (kind === 'repeat') return answerRepeat(stored, body, context)
    const asked = await askForStake(stored, body.transaction_id, context)
    if (asked.kind === 'placed') return answerOf(asked.placed)
    const sibling = await intents.refuse(request, asked.error)
    return answerRepeat(sibling.stored, body, context)
  }

  async function addStake(
    caller: Caller,
    body: Body<'BET'>,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    try {
      return await tryAddStake(caller, body, roundId, context)
    } catch (error) {
      return refuseStake(error, caller, body, roundId, context)
    }
  }

  async function tryAddStake(
    caller: Caller,
    body: Body<'BET'>,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const session = await findSession(caller, body)
    const { amount } = await checkStake(caller, body, session)
    const stored = await findDriven(caller, roundId)
    const { round } = stored
    if (round.playerId !== session.playerId || round.game !== session.game) {
      throw invalidField('round_id', "is a round of another player or game than the session's")
    }
    if (round.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
    await wallet.assertConfigured(caller.scope, context)
    const stake: Stake = {
      transactionId: body.transaction_id,
      minor: amount,
      requestHash: transactionHash(body, round),
      state: 'ASKED',
      wasTaken: false,
      refusal: null,
    }
    const intended = await intend(stored, body, context, {
      type: 'add-stake',
      stake,
      receivedAt: receivedAt(context),
    })
    if ('status' in intended) return intended
    const asked = await askForStake(intended, body.transaction_id, context)
    if (asked.kind === 'taken-back') throw asked.error
    return answerOf(asked.placed)
  }

  /**
   * Keeps the refusal with the round that the stake was for, so that no equal request which is still under
   * way is accepted. If one has been, this is its repeat. @throws `error`
   */
  async function refuseStake(
    error: unknown,
    caller: Caller,
    body: Body<'BET'>,
    roundId: string,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const stored = await rounds.find(caller.scope, roundId)
    if (stored === null || stored.round.driver !== 'operator') throw error
    const asked = {
      transactionId: body.transaction_id,
      requestHash: transactionHash(body, stored.round),
      receivedAt: receivedAt(context),
    }
    return answerRepeat(await actor.keepRefusal(stored, error, asked), body, context)
  }

  async function askForStake(
    stored: StoredRound,
    transactionId: string,
    context: HandlerContext,
  ): Promise<PlacedStake> {
    const stake = stored.round.stakes.find((one) => one.transactionId === transactionId)
    if (stake === undefined) throw new Error(`round ${stored.round.id} lost its stake ${transactionId}`)
    return placeStake(stored, stake, context)
  }

  async function findSession({ scope }: Caller, body: Body<'BET'>): Promise<SessionDocument> {
    const session = await sessions.find(scope, body.session_id)
    if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
    return session
  }

  /** What a new stake must pass, in a new round or in an open one. */
  async function checkStake({ scope, account }: Caller, body: Body<'BET'>, session: SessionDocument) {
    if (body.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
    const amount = readAmount(body.amount, session.currency, 'amount')
    assertSessionOpen(session, clock.now())
    assertRealMoney(scope.environment, account)
    assertCurrency(session.currency, account)
    const { entry, limits: limitsOf } = await access.offered(scope.operatorId, session.game)
    const limits = limitsOf(session.currency)
    if (!isWithin(narrow(limits, stakeRangeOf(session)), amount)) throw new ServiceError('BET_LIMIT_EXCEEDED')
    return { entry, amount, limits }
  }

  async function addWin(
    caller: Caller,
    body: Body<'WIN'>,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const stored = await findDriven(caller, body.round_id)
    const { currency } = stored.round
    if (body.currency !== currency) throw new ServiceError('CURRENCY_MISMATCH')
    const win: Win = {
      transactionId: body.transaction_id,
      minor: readAmount(body.amount, currency, 'amount'),
      requestHash: transactionHash(body, stored.round),
      final: body.final,
      state: 'OWED',
    }
    const outcome = body.outcome ?? null
    const intended = await intend(stored, body, context, {
      type: 'add-win',
      win,
      outcome,
      receivedAt: receivedAt(context),
    })
    return 'status' in intended ? intended : settle(intended, { spec: winSpec(intended.round, win) }, context)
  }

  async function reverse(
    caller: Caller,
    body: ReversalBody,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const reference = body.reference_transaction_id
    const found = await rounds.listByTransaction(caller.scope, reference)
    // Of rounds of several players that were opened under one id at once, one has the movement; the others
    // have ended without it.
    const stored = found.find(({ round }) => !endedWithout(round)) ?? found[0]
    if (stored === undefined) throw new ServiceError('TRANSACTION_NOT_FOUND')
    const { round } = stored
    if (round.driver !== 'operator') {
      throw invalidField('reference_transaction_id', 'is a movement of a round that the service plays')
    }
    assertReferenceFits(round, body)
    const reversal: Reversal = {
      transactionId: body.transaction_id,
      referenceTransactionId: reference,
      type: body.type,
      requestHash: transactionHash(body, round),
      closes: false,
      state: 'OWED',
    }
    const intended = await intend(stored, body, context, {
      type: 'add-reversal',
      reversal,
      receivedAt: receivedAt(context),
    })
    if ('status' in intended) return intended
    const own = intended.round.reversals.find((one) => one.transactionId === body.transaction_id) ?? reversal
    return settle(intended, reversalOrder(intended.round, own), context)
  }

  /** W: the movement becomes part of its round, unless a parallel request with the same id was first. */
  async function intend(
    stored: StoredRound,
    body: TransactionBody,
    context: HandlerContext,
    message: Parameters<RoundActor['send']>[1],
  ): Promise<StoredRound | PlacedTransaction> {
    const current = await actor.catchUp(stored, context)
    const { stored: intended, changed } = await actor.tell(current, message)
    if (!changed) return answerRepeat(intended, body, context)
    await failpoint('rounds.movement-intended')
    return intended
  }

  /**
   * Places a credit or a rollback whose intent is stored. From here on only its acknowledgement, or a
   * person, ends it. Settlement that finds nobody is kept: others may have been refused for its sake. A
   * refusal for good is told only after the intent was taken back. Contract section 12: "a definite answer
   * is true for ever", "settlement is never refused for places".
   */
  async function settle(
    stored: StoredRound,
    order: MovementOrder,
    context: HandlerContext,
  ): Promise<PlacedTransaction> {
    const { round } = stored
    const { transactionId } = order.spec
    const placement = await wallet.place(scopeOf(round), order, context)
    await failpoint('rounds.settlement-placed')
    const isRefused = placement.kind === 'not-written' && !placement.error.retryable
    const refusal = isRefused ? refusalOf(placement.error, order.spec, clock.now()) : null
    if (isRefused && (await actor.withdraw(stored, transactionId, refusal))) {
      await reviewAfter(stored, placement.error, context)
      throw placement.error
    }
    if (placement.kind !== 'placed') {
      throw new ServiceError('WALLET_TIMEOUT', {
        resource: { round_id: round.id, transaction_id: transactionId },
        cause: placement.error,
      })
    }
    const { movement, outcome } = placement.placed
    await actor.learn(stored, movement, outcome)
    if (outcome.kind === 'refused') throw new ServiceError(outcome.code)
    if (outcome.kind === 'pending') {
      throw new ServiceError(outcome.code, {
        resource: { round_id: round.id, transaction_id: transactionId },
      })
    }
    return answerOf(placement.placed)
  }

  /** A refusal that the round did not foresee may mean that its movements stand otherwise than it knows. */
  async function reviewAfter({ round }: StoredRound, { code }: ServiceError, context: HandlerContext) {
    if (!unforeseenCodes.includes(code)) return
    const current = await rounds.find(scopeOf(round), round.id)
    if (current !== null) await actor.review(current, context)
  }

  async function findDriven({ scope }: Caller, roundId: string): Promise<StoredRound> {
    const stored = await rounds.find(scope, roundId)
    if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
    if (stored.round.driver !== 'operator') {
      throw invalidField('round_id', 'is a round that the service plays')
    }
    return stored
  }
}

function answerOf({ created, movement }: Placed): PlacedTransaction {
  return { status: created ? 201 : 200, body: movement }
}

function endedWithout({ status }: RoundState): boolean {
  return status === 'VOIDED' || status === 'FAILED'
}

function requestOf({ scope }: Caller, body: TransactionBody) {
  const isOwn = (round: RoundState) => movementOf(round, body) !== null
  return { scope, transactionId: body.transaction_id, isOwn }
}

/** The movement of this round that this very request has made; null for none, or for another body. */
function movementOf(round: RoundState, body: TransactionBody): Stake | Win | Reversal | null {
  if (round.driver !== 'operator') return null
  const movements = [...round.stakes, ...round.wins, ...round.reversals]
  const known = movements.find(({ transactionId }) => transactionId === body.transaction_id)
  if (known === undefined) return null
  return known.requestHash === transactionHash(body, round) ? known : null
}
