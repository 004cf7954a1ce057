import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import { profileOf } from '@pitboss/contracts/jurisdictions'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { roundBytes } from '../records/present-round.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { Commitment } from '../rules/new-round.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import { isUnfinished, openMovementIds, type RoundState } from '../rules/round.ts'
import { capRangeOf } from '../rules/stake-cap.ts'
import { sequenceKey, type StoredRound } from '../storage/round-document.ts'
import type { SessionDocument } from '../storage/sessions-store.ts'
import type { SpendsStore } from '../storage/spends-store.ts'
import type { Games } from './games.ts'
import type { Parts } from './parts.ts'

export type Player = {
  readonly scope: Scope
  readonly session: SessionDocument
  /** The key of the player's nonce sequence in the game of this session. */
  readonly sequence: string
}

export type PlayerAccess = ReturnType<typeof createPlayerAccess>

/**
 * Creates the lookup of players by the session of their launch token, and of their rounds.
 * Source: docs/contract.md, section 11, "Play".
 */
export function createPlayerAccess({ sessions, rounds }: Pick<Parts, 'sessions' | 'rounds'>) {
  return {
    /** @throws ServiceError SESSION_NOT_FOUND */
    async player({ scope, actor }: Caller): Promise<Player> {
      const session = actor.kind === 'session' ? await sessions.find(scope, actor.session_id) : null
      if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
      return { scope, session, sequence: sequenceKey(scope, session.game, session.playerId) }
    },

    /**
     * A round of this player in this game, of any session.
     * @throws ServiceError ROUND_NOT_FOUND
     */
    async round({ scope, session }: Player, roundId: string): Promise<StoredRound> {
      const stored = await rounds.find(scope, roundId)
      const isTheirs =
        stored !== null && stored.round.playerId === session.playerId && stored.round.game === session.game
      if (!isTheirs) throw new ServiceError('ROUND_NOT_FOUND')
      return stored
    },
  }
}

export type ShowPlayer = ReturnType<typeof createShowPlayer>

const freeBetsShownMax = 50

/**
 * Shows a player the session, the game, what a cap leaves of its limits, the balance, the open round, the
 * commitment of the next round, the free bets and, where the jurisdiction wants it in view, what the session
 * has cost. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND
 */
export function createShowPlayer({
  rounds,
  commitments,
  grants,
  spends,
  wallet,
  players,
  games,
  clock,
}: Pick<Parts, 'rounds' | 'commitments' | 'grants' | 'wallet' | 'clock'> & {
  spends: Pick<SpendsStore, 'of'>
  players: Pick<PlayerAccess, 'player'>
  games: Pick<Games, 'find'>
}) {
  return async function showPlayer(caller: Caller, context: HandlerContext) {
    const { scope, session, sequence } = await players.player(caller)
    const { playerId, currency } = session
    const now = clock.now()
    const game = await games.find(caller.account.operator_id, session.game)
    const [balance, last, openGrants, spend] = await Promise.all([
      wallet.balance(
        scope,
        { playerId, currency, sessionId: session._id, walletGameId: game.entry.gameId },
        context,
      ),
      // One read for both: the commitment after a round is never shown without that round.
      rounds.findLast(sequence),
      grants.open(scope, { playerId, game: session.game, currency }, now),
      profileOf(session).showsSpend ? spends.of(scope, session._id) : null,
    ])
    const next = await commitments.ensure(sequence, (last?.round.nonce ?? 0) + 1, now)
    return {
      now,
      session,
      game,
      /** What the session's cap leaves of the game's limits; null without one. */
      stakeRange: capRangeOf(session),
      balance,
      openRound: last !== null && isUnfinished(last.round) ? last.round : null,
      next,
      freeBets: openGrants.slice(0, freeBetsShownMax),
      spend,
    }
  }
}

/** A nonce of the player in the game: its commitment, and its round once it was played. */
export type FairnessEntry = { readonly commitment: Commitment; readonly round: RoundState | null }

export type ReadPlayerRounds = ReturnType<typeof createReadPlayerRounds>

const nonceSchema = z.int().min(1)

/**
 * Creates a player's reads of rounds in the game of the session.
 * Source: docs/contract.md, section 11.
 */
export function createReadPlayerRounds({
  rounds,
  commitments,
  players,
  cursors,
}: Pick<Parts, 'rounds' | 'commitments' | 'cursors'> & { players: PlayerAccess }) {
  return { find, list, listFairness }

  /** @throws ServiceError ROUND_NOT_FOUND */
  async function find(caller: Caller, roundId: string): Promise<RoundState> {
    return (await players.round(await players.player(caller), roundId)).round
  }

  /** Newest nonce first. */
  async function list(caller: Caller, query: PageQuery): Promise<Page<RoundState>> {
    const { scope, sequence } = await players.player(caller)
    return readPage({
      cursors,
      binding: { list: 'player-rounds', scope, chain: sequence },
      query,
      position: nonceSchema,
      read: (below, max) => rounds.listSequence(sequence, { below, max }),
      positionOf: ({ nonce }) => nonce,
      bytesOf: roundBytes,
    })
  }

  /** Every nonce with its commitment and its round, newest first; the next nonce has no round yet. */
  async function listFairness(caller: Caller, query: PageQuery): Promise<Page<FairnessEntry>> {
    const { scope, sequence } = await players.player(caller)
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'fairness', scope, chain: sequence },
      query,
      position: nonceSchema,
      read: (below, max) => commitments.list(sequence, { below, max }),
      positionOf: ({ nonce }) => nonce,
    })
    const first = items[0]
    const played =
      first === undefined
        ? []
        : await rounds.listSequence(sequence, { below: first.nonce + 1, max: items.length })
    const byNonce = new Map(played.map((round) => [round.nonce, round]))
    const entries = items.map((commitment) => ({ commitment, round: byNonce.get(commitment.nonce) ?? null }))
    return { items: entries, nextCursor }
  }
}

type PlayerAction = Extract<RoundMessage, { type: 'reveal' | 'cash-out' }>

export type ActOnRound = ReturnType<typeof createActOnRound>

/**
 * Opens a tile of a player's round or cashes it out, and settles the round if it is over. Any session of the
 * same player and game may do so, a closed one, too. Source: docs/contract.md, section 11, "Play".
 * @throws ServiceError SESSION_NOT_FOUND, ROUND_NOT_FOUND, and the refusals of the rules
 */
export function createActOnRound({
  players,
  actor,
  settleRound,
}: Pick<Parts, 'actor' | 'settleRound'> & { players: PlayerAccess }) {
  return async function actOnRound(
    caller: Caller,
    roundId: string,
    action: PlayerAction,
    context: HandlerContext,
  ): Promise<RoundState> {
    const stored = await players.round(await players.player(caller), roundId)
    const acted = await actor.send(stored, action)
    const { round } = await settleRound(acted, { recover: false, context })
    const [owed] = openMovementIds(round)
    if (context.atOnce === true && owed !== undefined) throw unknownOutcome(resourceOf(round, owed))
    return round
  }
}
