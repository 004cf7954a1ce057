import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { RequestOf } from '@pitboss/contracts/call'
import type { Caller } from '@pitboss/contracts/caller'
import type { playRound as endpoint } from '@pitboss/contracts/endpoints/play'
import { hashBody } from '@pitboss/contracts/json'
import { invalidFields, readAll, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { PlayContext } from '../context.ts'
import { assertPays, assertWithinCap, isWithin, type Limits, narrow, readAmount } from '../rules/limits.ts'
import { assertMayPlay, assertNoRealityCheck } from '../rules/live-rules.ts'
import { assertCertain, resourceOf, walletRefusal } from '../rules/movement.ts'
import { refusalError, refusalOf } from '../rules/refusal.ts'
import type { RoundState } from '../rules/round.ts'
import { sequenceOf, type StoredRound } from '../storage/round-document.ts'
import { stakeRangeOf } from '../storage/sessions-store.ts'
import { applyMovement } from './change-round.ts'
import { findGame, readOfferedGame } from './offered-game.ts'
import { keepsChanging, makeRound, openIntent, type Plan } from './open-intent.ts'
import { awaitMovement, chooseGrant, noFreeBet, placeStake, type Started, takeGrant } from './place-stake.ts'
import { findPlayer, type Player } from './player-page.ts'
import { showRefused } from './read-rounds.ts'
import { settleRound } from './settle-round.ts'

const refusingMax = 8

type PlayBody = RequestOf<typeof endpoint.call>['body']
type Play = Awaited<ReturnType<typeof readPlay>>

/**
 * Plays a round to its end or to the player's first turn. All refusals come before the intent is stored;
 * after that the round ends whichever process dies. Source: docs/contract.md, sections 4 and 11.
 */
export async function playRound(context: PlayContext, caller: Caller, body: PlayBody, call: HandlerContext) {
  const play = await readPlay(context, caller, body, call)
  const earlier = await findEarlier(context, play)
  if (earlier !== null) return answerRepeat(context, earlier, play)

  const { sequence } = play.player
  const request = { sequence, findEarlier: () => findEarlier(context, play), isOwn: isOwn(play) }
  const plan = () => planRound(context, play)
  const opened = await openIntent(context, request, plan, call).catch(async (error: unknown) => {
    return { kind: 'repeat', stored: await refuse(context, play, error) } as const
  })
  if (opened.kind === 'repeat') return answerRepeat(context, opened.stored, play)
  const { stored } = opened
  const [stake] = stored.round.stakes
  const start = await showRefused<Started>(context, stored.round.id, () =>
    stake === undefined
      ? takeGrant(context, stored)
      : placeStake(context, stored, stake.transactionId, call, play.player.session),
  )
  if (start.kind === 'taken-back')
    return answerRepeat(context, await refuse(context, play, start.error), play)
  await failpoint('rounds.drawn')
  const settled = await settleRound(context, start.stored, { recover: false, call })
  await failpoint('rounds.settled')
  return settled.round
}

async function readPlay(context: PlayContext, caller: Caller, body: PlayBody, call: HandlerContext) {
  const player = await findPlayer(context, caller)
  const { session } = player
  const entry = findGame(context, session.game)
  const [stake, wager] = readAll(
    () => readAmount(body.stake, session.currency, 'stake'),
    () => {
      const parsed = entry.game.parseBet(body.bet)
      if (!parsed.ok) throw invalidFields(parsed.issues)
      return parsed.wager
    },
  )
  const { client_seed = null, free_bet = false } = body
  const requestHash = hashBody({ stake: String(stake), bet: wager.bet, client_seed, free_bet })
  return { caller, call, player, body, entry, wager, stake, requestHash }
}

async function planRound(context: PlayContext, play: Play): Promise<Plan> {
  const { caller, call, player, entry, wager, stake, requestHash, body } = play
  const { session, sequence } = player
  const now = context.clock.now()
  context.admitPlay(caller.scope)
  assertMayPlay(caller, session, now)
  assertNoRealityCheck(session, now)
  const [game, last] = await Promise.all([
    readOfferedGame(context, caller.scope.operatorId, session.game),
    context.rounds.last(sequence),
  ])
  const limits = game.limits(session.currency)
  assertStake(play, limits)
  const { client_seed: clientSeed = null, transaction_id: clientTransactionId = null } = body
  const asked = { clientSeed, clientTransactionId, requestHash, stake, bet: wager.bet }
  const { gameId } = entry
  const wanted = { ...asked, session, driver: 'game', gameId, maxPayout: limits.maxPayout } as const
  const { scope } = caller
  await context.hooks.assertWithinLimits(scope, session, body.free_bet === true ? 0n : stake)
  const grant = async () => (body.free_bet === true ? chooseGrant(context, session, stake) : null)
  const startedBy = `${session.game}/${body.transaction_id ?? context.newUuid()}`
  return {
    last,
    make: (last) => makeRound(context, last, wanted, call, grant),
    pace: context.hooks.enforceStartInterval(scope, session, startedBy),
  }
}

function assertStake({ player, entry, wager, stake, body }: Play, limits: Limits): void {
  const { session } = player
  assertWithinCap(session, stake)
  const narrowed = narrow(limits, stakeRangeOf(session))
  // A free bet's stake was held against the limits when it was granted.
  if (body.free_bet !== true && !isWithin(narrowed, stake)) throw new ServiceError('BET_LIMIT_EXCEEDED')
  const { maxPayout } = limits
  assertPays(wager.winMultipliers(entry.rtp), entry.rtp, session.currency, { stake, maxPayout })
}

/** The round opened under this id, or null. @throws ServiceError an earlier refusal, TRANSACTION_CONFLICT */
async function findEarlier(context: PlayContext, play: Play): Promise<StoredRound | null> {
  const { transaction_id: id } = play.body
  if (id === undefined) return null
  const { scope, sequence } = play.player
  const found = await context.rounds.findRequest(scope, sequence, id)
  if (found === null) return id.startsWith('bet_') ? findStake(context, play.player, id) : null
  if ('stored' in found) return found.stored
  const isEqual = found.dead.requestHash === refusedHash(play)
  throw isEqual ? refusalError(found.dead) : new ServiceError('TRANSACTION_CONFLICT')
}

/** The round of this player's page with this stake: its request is repeated by the id in `resource`. */
async function findStake({ rounds }: PlayContext, { scope, sequence }: Player, id: string) {
  const found = await rounds.listByTransaction(scope, id)
  return found.find(({ round }) => round.driver === 'game' && sequenceOf(round) === sequence) ?? null
}

/** Refuses a request for good if `error` kills its id. @returns the round of an equal one that was first */
async function refuse(context: PlayContext, play: Play, error: unknown): Promise<StoredRound> {
  const { transaction_id: transactionId } = play.body
  if (!(error instanceof ServiceError) || error.retryable || transactionId === undefined) throw error
  const { sequence } = play.player
  const refusal = refusalOf(error)
  if (refusal === null) {
    // Nothing was written for this refusal: only a confirmed primary knows that nobody was first.
    const { confirmPrimary: confirm } = context.rounds
    const earlier = await readConfirmed(() => findEarlier(context, play), { confirm })
    if (earlier !== null) return earlier
    throw error
  }
  for (let tries = 0; tries < refusingMax; tries++) {
    const earlier = await findEarlier(context, play)
    if (earlier !== null) return earlier
    const dead = { ...refusal, kind: 'request', requestHash: refusedHash(play), meaning: null } as const
    if (await context.rounds.killRequest(sequence, transactionId, dead)) throw refusalError(refusal)
  }
  throw keepsChanging(sequence)
}

/** Answers a repeat with the same transaction_id: the same round or error, and no second wallet call. */
async function answerRepeat(context: PlayContext, stored: StoredRound, play: Play): Promise<RoundState> {
  const { call } = play
  if (!isOwn(play)(stored.round)) throw new ServiceError('TRANSACTION_CONFLICT')
  if (stored.round.status !== 'PENDING') return answerRound(stored.round)
  const joined = await join(context, stored, call)
  if (joined.kind === 'taken-back')
    return answerRepeat(context, await refuse(context, play, joined.error), play)
  return answerRound((await settleRound(context, joined.stored, { recover: false, call })).round)
}

function answerRound(round: RoundState): RoundState {
  if (round.refusal !== null) throw walletRefusal(round.refusal, round.clientTransactionId !== null)
  if (round.endReason === 'free_bet_gone') throw noFreeBet()
  return round
}

/** Goes on with a round whose first request is at work or dead. @throws ServiceError while it is unknown */
async function join(context: PlayContext, stored: StoredRound, call: HandlerContext): Promise<Started> {
  const { round } = stored
  const [stake] = round.stakes
  if (stake === undefined) return takeGrant(context, stored)
  const shown = await awaitMovement(context, round, stake.transactionId, call)
  assertCertain(shown.outcome, resourceOf(round, stake.transactionId))
  return { kind: 'placed', stored: await applyMovement(context, stored, shown) }
}

function refusedHash({ requestHash, player }: Play): string {
  return `${requestHash} ${player.session.currency}`
}

function isOwn({ player, requestHash, body }: Play): (round: RoundState) => boolean {
  const { transaction_id: id } = body
  return ({ clientTransactionId, stakes, ...round }) =>
    id !== undefined &&
    (clientTransactionId === id || stakes.some(({ transactionId }) => transactionId === id)) &&
    round.driver === 'game' &&
    round.playerId === player.session.playerId &&
    round.game === player.session.game &&
    round.currency === player.session.currency &&
    round.requestHash === requestHash
}
