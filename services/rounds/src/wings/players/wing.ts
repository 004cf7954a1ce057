import { answer, handler } from '@pitboss/bus/serve-calls'
import { orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import { opsErasePlayer, opsPlayerData } from '@pitboss/contracts/calls/rounds'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import {
  activeSessionsMax,
  type Nonce,
  type Player,
  playerRoundsMax,
} from '@pitboss/contracts/objects/player'
import { ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { answerPage, dataPage, type Page, readPage } from '@pitboss/storage/read-page'
import { findGame } from '../../actions/offered-game.ts'
import type { DataPage, RoundsContext } from '../../context.ts'
import { presentRound, roundBytes } from '../../records/present-round.ts'
import { presentFreeBet, presentSession } from '../../records/present-session.ts'
import { isUnfinished, roundTotals } from '../../rules/round.ts'
import { sequenceKey } from '../../storage/round-document.ts'
import type { RoundSums } from '../../storage/round-lists.ts'
import type { LastNonce } from '../../storage/round-streams.ts'
import type { Wing } from '../../wing.ts'

/** What people see of a player. Source: docs/contract.md, section 3, "Player"; docs/data.md. */
export const players: Wing = {
  open: (context) => ({
    calls: [
      handler(getPlayer.call, async ({ caller, params }) =>
        answer(await readPlayer(context, caller, params.player_id, context.clock.now())),
      ),
      handler(listNonces.call, async (asked) =>
        answerPage(await listNoncesOf(context, asked), (nonce) => nonce),
      ),
      handler(opsPlayerData, (asked) => readPlayerData(context, asked)),
      handler(opsErasePlayer, (asked, { requestId }) => erasePlayer(context, asked, requestId)),
    ],
  }),
}

type NonceQuery = RequestOf<typeof listNonces.call>
type DataQuery = RequestOf<typeof opsPlayerData>
type Erasure = RequestOf<typeof opsErasePlayer>

const dayMs = 24 * 60 * 60 * 1000
const sumsOfMs = 30 * dayMs
/** No session is longer than a day; one that was claimed under a key may carry an earlier id. */
const sessionsOfMs = 2 * dayMs
const grantsMax = 200

/** Reads a player with sums of 30 days. @throws ServiceError NOT_FOUND without session, round or free bet */
async function readPlayer(context: RoundsContext, { scope }: Caller, playerId: string, now: Date) {
  const { sessions, grants, rounds, catalogue } = context
  const from = new Date(now.getTime() - sumsOfMs)
  const lately = new Date(now.getTime() - sessionsOfMs)
  const first = { before: null, now }
  const active = { playerId, status: 'ACTIVE' } as const
  const [[lastSession], activeSessions, granted, sums, games] = await Promise.all([
    sessions.list(scope, { playerId }, { ...first, max: 1 }),
    sessions.list(scope, { ...active, from: lately }, { ...first, max: activeSessionsMax }),
    grants.list(scope, active, { ...first, max: grantsMax }),
    rounds.listSums(scope, playerId, { from, max: playerRoundsMax + 1 }),
    Promise.all(catalogue.entries.map(({ game }) => playedIn(context, scope, game.slug, playerId))),
  ])
  const played = games.filter(({ last_nonce }) => last_nonce > 0)
  if (lastSession === undefined && played.length === 0 && granted.length === 0)
    throw new ServiceError('NOT_FOUND')
  return {
    player_id: playerId,
    environment: scope.environment,
    last_session_at: lastSession?.createdAt.toISOString() ?? null,
    active_sessions: activeSessions.length,
    free_bets: granted.reduce((total, { remaining }) => total + remaining, 0),
    games: played,
    from: from.toISOString(),
    to: now.toISOString(),
    play: presentSums(sums.slice(0, playerRoundsMax)),
    complete: sums.length <= playerRoundsMax,
  }
}

async function playedIn({ rounds }: RoundsContext, scope: Scope, game: string, playerId: string) {
  const sequence = sequenceKey(scope, game, playerId)
  const [{ nonce }, [last]] = await Promise.all([
    rounds.last(sequence),
    rounds.listSequence(sequence, { below: null, max: 1 }),
  ])
  return {
    game,
    last_nonce: nonce,
    last_round_at: last?.createdAt.toISOString() ?? null,
    unfinished_round: last !== undefined && isUnfinished(last) ? last.id : null,
  }
}

/** The sums of rounds that are over, by currency, as reports count them. */
function presentSums(sums: readonly RoundSums[]): Player['play'] {
  const over = sums.filter(({ started, completedAt }) => started && completedAt !== null)
  return [...Map.groupBy(over, ({ currency }) => currency)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, rounds]) => {
      const all = { stakes: rounds.flatMap((one) => one.stakes), wins: rounds.flatMap((one) => one.wins) }
      const { stakes, payouts, refunds } = roundTotals(all)
      return {
        currency,
        rounds: rounds.length,
        stakes: formatAmount(stakes, currency),
        payouts: formatAmount(payouts, currency),
        refunds: formatAmount(refunds, currency),
        ggr: formatAmount(stakes - refunds - payouts, currency),
      }
    })
}

/** Lists each nonce of a player in a game, newest first. @throws ServiceError GAME_NOT_FOUND, NOT_FOUND */
async function listNoncesOf(context: RoundsContext, request: NonceQuery): Promise<Page<Nonce>> {
  const { rounds, commitments, cursors } = context
  const { scope } = request.caller
  const { player_id: playerId, game } = request.params
  const { limit, cursor, environment: _environment, ...filters } = request.query
  findGame(context, game)
  const sequence = sequenceKey(scope, game, playerId)
  const last = await rounds.last(sequence)
  const [shown] = await commitments.list(sequence, { last, below: null, max: 1 })
  const highest = Math.max(last.nonce, shown?.nonce ?? 0)
  if (highest === 0) {
    const any = { before: null, max: 1, now: new Date(0) }
    const [session] = await context.sessions.list(scope, { playerId }, any)
    if (session === undefined) throw new ServiceError('NOT_FOUND')
  }
  const lowest = Number(filters.from_nonce ?? 1)
  const { to_nonce } = filters
  return readPage({
    cursors,
    binding: { list: 'nonces', scope, chain: sequence, filters },
    query: { limit, cursor },
    read: (below: number | null, max) => {
      const to = Math.min(highest, Number(to_nonce ?? highest), (below ?? Infinity) - 1)
      return readNonces(context, sequence, Math.max(lowest, to - max + 1), to, last)
    },
    positionOf: ({ nonce }) => nonce,
    bytesOf: ({ round }) => (round === null ? 0 : roundBytes(round)),
  })
}

/** The nonces from `from` to `to`, the last one first; none when `to` is below `from`. */
async function readNonces(context: RoundsContext, chain: string, from: number, to: number, last: LastNonce) {
  const { rounds, commitments, lost } = context
  const max = to - from + 1
  if (max <= 0) return []
  const [played, committed, skipped] = await Promise.all([
    rounds.listSequence(chain, { below: to + 1, max }),
    commitments.list(chain, { last, below: to + 1, max }),
    lost.placesHeld(chain, { from, to }),
  ])
  const roundOf = new Map(played.map((round) => [round.nonce, presentRound(round)]))
  const commitmentOf = new Map(
    committed.map(({ nonce, serverSeedHash, createdAt }) => [
      nonce,
      { server_seed_hash: serverSeedHash, committed_at: createdAt.toISOString() },
    ]),
  )
  const stateOf = (nonce: number): Nonce['state'] => {
    if (roundOf.has(nonce)) return 'PLAYED'
    if (skipped.includes(nonce)) return 'SKIPPED'
    return nonce > last.nonce ? 'SHOWN' : 'MISSING'
  }
  return Array.from({ length: max }, (_, at) => {
    const nonce = to - at
    const commitment = commitmentOf.get(nonce) ?? null
    return { nonce, state: stateOf(nonce), commitment, round: roundOf.get(nonce) ?? null }
  })
}

/** Reads a page of one kind of a player's records, newest first. Source: docs/data.md. */
async function readPlayerData(context: RoundsContext, asked: DataQuery): Promise<DataPage> {
  const { scope, playerId, kind, before } = asked
  const { sessions, rounds, grants, hooks } = context
  const now = context.clock.now()
  const at = { before, now }
  switch (kind) {
    case 'session':
      return dataPage(
        (max) => sessions.list(scope, { playerId }, { ...at, max }),
        (one) => presentSession(one, now),
      )
    case 'round':
      return dataPage((max) => rounds.list(scope, { playerId }, { before, max }), presentRound, {
        bytesOf: roundBytes,
      })
    case 'free_bet':
      return dataPage(
        (max) => grants.list(scope, { playerId }, { ...at, max }),
        (one) => presentFreeBet(one, now),
      )
    case 'stop':
    case 'limits':
      return hooks.playerData[kind](scope, playerId, before)
  }
}

/**
 * Erases details of sessions that ended a day ago or earlier; money records and proofs stay. It is audited
 * before, by number: the audit must not retain what the erasure takes. Source: docs/data.md.
 * @returns how many sessions lost details, or would in a dry run, and how many still have them
 */
async function erasePlayer(context: RoundsContext, request: Erasure, requestId: string) {
  const { sessions, audit, clock } = context
  const { scope, playerId, order } = request
  // Idempotency keys show a session again for 24 hours after it was made, as it was.
  const endedBy = new Date(clock.now().getTime() - dayMs)
  const { ended, all } = await sessions.countDetails(scope, playerId, endedBy)
  const kept = all - ended
  if (order.dryRun || ended === 0) return { erased: ended, kept }
  await audit.store(orderedBy(order, scope.operatorId, requestId), {
    act: 'player.erase',
    object: { type: 'player', id: playerId },
    before: null,
    after: { environment: scope.environment, sessions: ended },
  })
  return { erased: await sessions.eraseDetails(scope, playerId, endedBy), kept }
}
