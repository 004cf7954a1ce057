import { type CallHandler, handler, type HandlerContext } from '@pitboss/bus/serve-calls'
import {
  cashOut,
  getFairnessBook,
  getPlayerRound,
  getPlayerSession,
  listPlayerRounds,
  playRound as playRoundEndpoint,
  revealTile,
} from '@pitboss/contracts/endpoints/rounds'
import type { Caller } from '@pitboss/contracts/caller'
import { formatAmount } from '@pitboss/money/amount'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import type { RoundActor } from '../actions/round-actor.ts'
import type { WalletClient } from '../clients/wallet.ts'
import type { RoundMessage } from '../rules/round-message.ts'
import { isUnfinished } from '../rules/round.ts'
import { presentRound, roundBytes } from '../records/present-round.ts'
import { presentSession } from '../records/present-session.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { ShowGame } from './games.ts'
import { readPage } from './page.ts'
import type { createPlayRound } from '../actions/play-round.ts'
import type { PlayerAccess } from '../actions/player-session.ts'

type PlayerDeps = {
  rounds: RoundsStore
  commitments: Pick<CommitmentsStore, 'ensure' | 'list'>
  grants: Pick<GrantsStore, 'open'>
  wallet: WalletClient
  actor: RoundActor
  players: PlayerAccess
  showGame: ShowGame
  playRound: ReturnType<typeof createPlayRound>
  cursors: CursorCodec
  clock: Clock
}

type PageQuery = { limit: number; cursor?: string | undefined }

const freeBetsShownMax = 50
const nonceSchema = z.int().min(1)

/** What a player's browser asks for, under `/v1/game`. Contract sections 4 and 11. */
export function createPlayerHandlers(deps: PlayerDeps): CallHandler[] {
  const { rounds, commitments, grants, wallet, actor, players, playRound, cursors, clock } = deps

  async function showSession(caller: Caller, context: HandlerContext) {
    const player = await players.player(caller)
    const { scope, session, chain } = player
    const { playerId, currency } = session
    const now = clock.now()
    const game = await deps.showGame(caller.account, session.game)
    const [balance, last, openGrants] = await Promise.all([
      wallet.balance(
        scope,
        { playerId, currency, sessionId: session._id, walletGameId: game.game_id },
        context,
      ),
      // One read for both: a commitment is never shown as the next one of a round that nobody was shown.
      rounds.findLast(chain),
      grants.open(scope, { playerId, game: session.game, currency }, now),
    ])
    const next = await commitments.ensure(chain, (last?.round.nonce ?? 0) + 1, now)
    const open = last !== null && isUnfinished(last.round) ? last : null
    return {
      session: presentSession(session, now),
      game,
      balance,
      open_round: open === null ? null : presentRound(open.round),
      next_round: { server_seed_hash: next.serverSeedHash, nonce: next.nonce },
      free_bets: openGrants.slice(0, freeBetsShownMax).map((grant) => ({
        grant_id: grant._id,
        remaining: grant.remaining,
        stake: formatAmount(BigInt(grant.stake), grant.currency),
        expires_at: grant.expiresAt?.toISOString() ?? null,
      })),
    }
  }

  /** Any session of the same player and game may finish the round, also a closed one. */
  async function act(caller: Caller, roundId: string, message: RoundMessage, context: HandlerContext) {
    const player = await players.player(caller)
    const stored = await players.round(player, roundId)
    const acted = await actor.send(stored, message)
    const settled = await actor.settle(acted, { recover: false, context })
    return { status: 200, body: presentRound(settled.round) }
  }

  async function listRounds(caller: Caller, query: PageQuery) {
    const { scope, chain } = await players.player(caller)
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'player-rounds', scope, chain },
      query,
      position: nonceSchema,
      read: (below, max) => rounds.listChain(chain, { below, max }),
      positionOf: ({ nonce }) => nonce,
      bytesOf: roundBytes,
    })
    return { status: 200, body: { data: items.map(presentRound), next_cursor: nextCursor } }
  }

  /** Commitment, reveal and end of every nonce, newest first; of the next nonce only the commitment is known. */
  async function fairnessBook(caller: Caller, query: PageQuery) {
    const { scope, chain } = await players.player(caller)
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'fairness', scope, chain },
      query,
      position: nonceSchema,
      read: (below, max) => commitments.list(chain, { below, max }),
      positionOf: ({ nonce }) => nonce,
    })
    const first = items[0]
    const played =
      first === undefined ? [] : await rounds.listChain(chain, { below: first.nonce + 1, max: items.length })
    const byNonce = new Map(played.map((round) => [round.nonce, round]))
    const data = items.map(({ nonce, serverSeedHash }) => {
      const round = byNonce.get(nonce) ?? null
      return {
        nonce,
        server_seed_hash: serverSeedHash,
        client_seed: round?.clientSeed ?? null,
        server_seed: round?.serverSeed ?? null,
        round_id: round?.id ?? null,
        status: round?.status ?? null,
      }
    })
    return { status: 200, body: { data, next_cursor: nextCursor } }
  }

  return [
    handler(getPlayerSession.call, async ({ caller }, context) => ({
      status: 200,
      body: await showSession(caller, context),
    })),
    handler(listPlayerRounds.call, ({ caller, query }) => listRounds(caller, query)),
    handler(getPlayerRound.call, async ({ caller, params }) => {
      const stored = await players.round(await players.player(caller), params.round_id)
      return { status: 200, body: presentRound(stored.round) }
    }),
    handler(playRoundEndpoint.call, async ({ caller, body }, context) => ({
      status: 201,
      body: presentRound(await playRound(caller, body, context)),
    })),
    handler(revealTile.call, ({ caller, params, body }, context) =>
      act(caller, params.round_id, { type: 'reveal', tile: body.tile }, context),
    ),
    handler(cashOut.call, ({ caller, params }, context) =>
      act(caller, params.round_id, { type: 'cash-out' }, context),
    ),
    handler(getFairnessBook.call, ({ caller, query }) => fairnessBook(caller, query)),
  ]
}
