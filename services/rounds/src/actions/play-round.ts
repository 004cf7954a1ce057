import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Wager } from '@pitboss/fairness/games/game'
import { multiplyFloor } from '@pitboss/money/rational'
import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { hashBody } from '@pitboss/contracts/hash-body'
import type { RoundActor } from './round-actor.ts'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import type { WalletClient } from '../clients/wallet.ts'
import { isWithin, type Limits, narrow } from '../rules/limits.ts'
import { assertRealMoney } from '../rules/live-rules.ts'
import type { RoundState, Stake } from '../rules/round.ts'
import { sessionStatusAt } from '../rules/session-status.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { type SessionDocument, stakeRangeOf } from '../storage/sessions-store.ts'
import type { GameAccess } from './game-access.ts'
import type { JoinMovement } from './join-movement.ts'
import { newRound } from '../rules/new-round.ts'
import { receivedAt } from '../rules/received-at.ts'
import { findSibling, type IntentRequest, type OpenIntent, type Plan } from './open-intent.ts'
import { type PlaceStake, resourceOf } from './place-stake.ts'
import type { Player, PlayerAccess } from './player-session.ts'
import { assertCurrency, readAmount } from '../rules/read-amount.ts'

type PlayBody = {
  stake: string
  bet: Record<string, unknown>
  client_seed?: string | null | undefined
  free_bet?: boolean | undefined
  transaction_id?: string | undefined
}

type PlayRoundDeps = {
  rounds: RoundsStore
  commitments: Pick<CommitmentsStore, 'ensure'>
  grants: Pick<GrantsStore, 'open' | 'use'>
  wallet: WalletClient
  actor: RoundActor
  access: Pick<GameAccess, 'find' | 'offered'>
  players: Pick<PlayerAccess, 'player'>
  intents: OpenIntent
  placeStake: PlaceStake
  joinMovement: JoinMovement
  clock: Clock
  newId: (prefix: string) => string
  newUuid: () => string
}

/** `taken-back`: neither the stake nor a free bet was taken, and the round is gone. */
type Started =
  | { readonly kind: 'started'; readonly stored: StoredRound }
  | { readonly kind: 'taken-back'; readonly error: ServiceError }

/** Rounds before anything of them is known, or refused: what the checks have found. */
type Play = {
  readonly player: Player
  readonly entry: CatalogueEntry
  readonly wager: Wager
  readonly stake: bigint
  readonly requestHash: string
  readonly body: PlayBody
}

/**
 * A round from stake to end, or to its first open tile: flows.md, "A round of dice, won". Everything that can be refused is refused
 * before the intent is stored; from then on the round ends by itself, whoever dies. Contract sections 4 and 11.
 */
export function createPlayRound(deps: PlayRoundDeps) {
  const { rounds, commitments, grants, wallet, actor, access, players, clock } = deps
  const { placeStake, joinMovement } = deps
  const { openIntent, refuse } = deps.intents

  return async function playRound(
    caller: Caller,
    body: PlayBody,
    context: HandlerContext,
  ): Promise<RoundState> {
    const player = await players.player(caller)
    const play = readPlay(player, body)
    const request = requestOf(play, context)
    const earlier = await findSibling(rounds, request)
    if (earlier !== null) return answerRepeat(earlier, play, context)

    const plan = () => planRound(caller, play, context)
    const opened = await openIntent(request, plan, context)
    if (opened.kind === 'repeat') return answerRepeat(opened.stored, play, context)
    const { stored } = opened
    const start = stored.round.freeBet ? await takeGrant(stored) : await takeStake(stored, context)
    if (start.kind === 'taken-back') return answerTakenBack(start.error, play, context)
    await failpoint('rounds.drawn')
    const settled = await actor.settle(start.stored, { recover: false, context })
    await failpoint('rounds.settled')
    return settled.round
  }

  function readPlay(player: Player, body: PlayBody): Play {
    const { session } = player
    const entry = access.find(session.game)
    const stake = readAmount(body.stake, session.currency, 'stake')
    const parsed = entry.game.parseBet(body.bet)
    if (!parsed.ok) {
      const [first] = parsed.issues
      throw new ServiceError('VALIDATION_ERROR', {
        ...(first === undefined ? {} : { message: `${first.path}: ${first.message}` }),
        details: parsed.issues,
      })
    }
    const requestHash = hashBody({
      stake: String(stake),
      bet: parsed.wager.bet,
      client_seed: body.client_seed ?? null,
      free_bet: body.free_bet ?? false,
    })
    return { player, entry, wager: parsed.wager, stake, requestHash, body }
  }

  /** Everything that can be refused is refused in here. */
  async function planRound(caller: Caller, play: Play, context: HandlerContext): Promise<Plan> {
    const { player, entry, wager, stake, requestHash, body } = play
    const { session, chain } = player
    assertSessionOpen(session, clock.now())
    assertRealMoney(caller.scope.environment, caller.account)
    assertCurrency(session.currency, caller.account)
    const [game, last] = await Promise.all([
      access.offered(caller.scope.operatorId, session.game),
      rounds.last(chain),
    ])
    const limits = game.limits(session.currency)
    assertStake(play, limits)
    return {
      last,
      async make(nonce) {
        const { settleLosses } = await wallet.assertConfigured(caller.scope, context)
        const grantId = body.free_bet === true ? await chooseGrant(play) : null
        const now = clock.now()
        return newRound({
          session,
          driver: 'game',
          gameId: entry.gameId,
          commitment: await commitments.ensure(chain, nonce, now),
          clientSeed: body.client_seed ?? null,
          bet: wager.bet,
          stake,
          maxPayout: limits.maxPayout,
          grantId,
          settleLosses,
          requestHash,
          clientTransactionId: body.transaction_id ?? null,
          now,
          newId: deps.newId,
          newUuid: deps.newUuid,
        })
      },
    }
  }

  function assertStake({ player, entry, wager, stake, body }: Play, limits: Limits): void {
    const narrowed = narrow(limits, stakeRangeOf(player.session))
    // A free bet's stake was held against the limits when it was granted.
    if (body.free_bet !== true && !isWithin(narrowed, stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
    if (multiplyFloor(stake, wager.leastWinMultiplier(entry.rtp)) > limits.maxPayout) {
      throw new ServiceError('BET_LIMIT_EXCEEDED', {
        message: 'A win would pay more than the greatest payout of this game.',
      })
    }
  }

  async function chooseGrant({ player: { scope, session }, stake }: Play): Promise<string> {
    const { playerId, game, currency } = session
    const open = await grants.open(scope, { playerId, game, currency }, clock.now())
    if (open.length === 0) throw noFreeBet()
    const fitting = open.find((grant) => BigInt(grant.stake) === stake)
    if (fitting === undefined) throw invalidField('stake', "must equal the free bet's stake")
    return fitting._id
  }

  async function takeStake(stored: StoredRound, context: HandlerContext): Promise<Started> {
    const [stake] = stored.round.stakes
    if (stake === undefined) throw new Error(`round ${stored.round.id} has no stake`)
    const placed = await placeStake(stored, stake, context)
    return placed.kind === 'placed' ? { kind: 'started', stored: placed.stored } : placed
  }

  /**
   * The grant may have been used up, or cancelled, since it was chosen: then there is no round. It tells
   * whoever asks for this round the same, so first request, repeats and sweeper agree; an intent that
   * somebody else has touched is ended by the sweeper.
   */
  async function takeGrant(stored: StoredRound): Promise<Started> {
    const { round } = stored
    const used = await grants.use(scopeOf(round), round.grantId ?? '', round.id, clock.now())
    await failpoint('rounds.grant-used')
    if (used) return { kind: 'started', stored: await actor.send(stored, { type: 'grant-used' }) }
    const removed = await rounds.remove(stored)
    if (removed) return { kind: 'taken-back', error: noFreeBet() }
    throw noFreeBet()
  }

  /** A repeat with the same transaction_id: the same round, or the same error, and never a second wallet call. */
  async function answerRepeat(stored: StoredRound, play: Play, context: HandlerContext): Promise<RoundState> {
    if (!isOwn(play)(stored.round)) throw new ServiceError('TRANSACTION_CONFLICT')
    if (stored.round.status !== 'PENDING') return answerRound(stored.round)
    const joined = await join(stored, context)
    if (joined.kind === 'taken-back') return answerTakenBack(joined.error, play, context)
    return answerRound((await actor.settle(joined.stored, { recover: false, context })).round)
  }

  /** Refuses for good, unless an equal request has opened a round since. */
  async function answerTakenBack(
    error: ServiceError,
    play: Play,
    context: HandlerContext,
  ): Promise<RoundState> {
    const { stored } = await refuse(requestOf(play, context), error)
    return answerRepeat(stored, play, context)
  }

  /** @throws ServiceError what the round was refused with */
  function answerRound(round: RoundState): RoundState {
    if (round.refusal !== null) throw new ServiceError(round.refusal)
    if (round.endReason === 'free_bet_gone') throw noFreeBet()
    return round
  }

  /** Goes on with a round whose first request is at work on it, or has died. */
  async function join(stored: StoredRound, context: HandlerContext): Promise<Started> {
    const [stake] = stored.round.stakes
    return stake === undefined ? takeGrant(stored) : joinStake(stored, stake, context)
  }

  /** How the stake stands by now. @throws ServiceError as the first answer, while its outcome is unknown. */
  async function joinStake(stored: StoredRound, stake: Stake, context: HandlerContext): Promise<Started> {
    const resource = resourceOf(stored.round, stake)
    const shown = await joinMovement(stored.round, stake.transactionId, context)
    if (shown.outcome.kind === 'pending') throw new ServiceError(shown.outcome.code, { resource })
    return { kind: 'started', stored: await actor.learn(stored, shown.movement, shown.outcome) }
  }
}

function requestOf(play: Play, context: HandlerContext): IntentRequest {
  const { player, requestHash, body } = play
  const { scope, chain } = player
  return {
    ...{ scope, chain, requestHash, receivedAt: receivedAt(context) },
    transactionId: body.transaction_id ?? null,
    isOwn: isOwn(play),
  }
}

/** Whether this very request has made a round: with its id and meaning, for the same player and game. */
function isOwn({ player, requestHash, body }: Play): (round: RoundState) => boolean {
  const { transaction_id: id } = body
  return ({ clientTransactionId, stakes, ...round }) =>
    id !== undefined &&
    (clientTransactionId === id || stakes.some(({ transactionId }) => transactionId === id)) &&
    round.driver === 'game' &&
    round.playerId === player.session.playerId &&
    round.game === player.session.game &&
    round.requestHash === requestHash
}

function noFreeBet(): ServiceError {
  return invalidField('free_bet', 'there is no free bet for this player and game')
}

/** @throws ServiceError SESSION_CLOSED, SESSION_EXPIRED */
export function assertSessionOpen(session: SessionDocument, now: Date): void {
  const status = sessionStatusAt(session, now)
  if (status === 'CLOSED') throw new ServiceError('SESSION_CLOSED')
  if (status === 'EXPIRED') throw new ServiceError('SESSION_EXPIRED')
}
