import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { listNonces } from '@pitboss/contracts/endpoints/players'
import { activeSessionsMax, playerRoundsMax } from '@pitboss/contracts/objects/player'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Page, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { roundBytes } from '../../../records/present-round.ts'
import type { LastNonce } from '../../../storage/round-streams.ts'
import { sequenceKey } from '../../../storage/round-document.ts'
import { findGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import type { NonceView, PlayedGame, PlayerView } from '../records/present-player.ts'

type ListQuery = z.output<typeof listNonces.query>

const dayMs = 24 * 60 * 60 * 1000
const sumsOfMs = 30 * dayMs
/** No session is longer than a day; one that was claimed under a key may carry an earlier id. */
const sessionsOfMs = 2 * dayMs
const grantsMax = 200

/**
 * Finds a player with the sums of 30 days. Source: docs/contract.md, section 3, "Player".
 * @throws ServiceError NOT_FOUND without a session, round or free bet
 */
export async function showPlayerToDesk(
  context: RoundsContext,
  { scope }: Caller,
  playerId: string,
  now: Date,
): Promise<PlayerView> {
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
  const played = games.filter(({ lastNonce }) => lastNonce > 0)
  if (lastSession === undefined && played.length === 0 && granted.length === 0) {
    throw new ServiceError('NOT_FOUND')
  }
  return {
    ...{ playerId, scope, games: played, from, to: now },
    lastSessionAt: lastSession?.createdAt ?? null,
    activeSessions: activeSessions.length,
    freeBets: granted.reduce((total, { remaining }) => total + remaining, 0),
    sums: sums.slice(0, playerRoundsMax),
    complete: sums.length <= playerRoundsMax,
  }
}

async function playedIn(
  { rounds }: Pick<RoundsContext, 'rounds'>,
  scope: Scope,
  game: string,
  playerId: string,
): Promise<PlayedGame> {
  const sequence = sequenceKey(scope, game, playerId)
  const [{ nonce: lastNonce }, [last]] = await Promise.all([
    rounds.last(sequence),
    rounds.listSequence(sequence, { below: null, max: 1 }),
  ])
  return { game, lastNonce, last: last ?? null }
}

/**
 * Lists each nonce of a player in a game, newest first, without a hole.
 * @throws ServiceError GAME_NOT_FOUND; NOT_FOUND for a player without a nonce and a session
 */
export async function listNoncesOf(
  context: RoundsContext,
  { scope }: Caller,
  { playerId, game }: { readonly playerId: string; readonly game: string },
  { limit, cursor, environment: _environment, ...filters }: ListQuery,
): Promise<Page<NonceView>> {
  const { rounds, commitments, cursors } = context
  findGame(context, game)
  const sequence = sequenceKey(scope, game, playerId)
  const last = await rounds.last(sequence)
  const [shown] = await commitments.list(sequence, { last, below: null, max: 1 })
  const highest = Math.max(last.nonce, shown?.nonce ?? 0)
  if (highest === 0 && !(await hasSession(context, scope, playerId))) throw new ServiceError('NOT_FOUND')
  const lowest = Number(filters.from_nonce ?? 1)
  const { to_nonce } = filters
  return readPage({
    cursors,
    binding: { list: 'nonces', scope, chain: sequence, filters },
    query: { limit, cursor },
    read: (below: number | null, max) => {
      const to = Math.min(highest, Number(to_nonce ?? highest), (below ?? Infinity) - 1)
      return readNonces(context, sequence, { from: Math.max(lowest, to - max + 1), to }, last)
    },
    positionOf: ({ nonce }) => nonce,
    bytesOf: ({ round }) => (round === null ? 0 : roundBytes(round)),
  })
}

async function hasSession({ sessions }: RoundsContext, scope: Scope, playerId: string): Promise<boolean> {
  const page = { before: null, max: 1, now: new Date(0) }
  return (await sessions.list(scope, { playerId }, page)).length > 0
}

/** The nonces from `from` to `to`, the last one first; none when `to` is below `from`. */
async function readNonces(
  { rounds, commitments, lost }: Pick<RoundsContext, 'rounds' | 'commitments' | 'lost'>,
  sequence: string,
  { from, to }: { readonly from: number; readonly to: number },
  last: LastNonce,
): Promise<NonceView[]> {
  const max = to - from + 1
  if (max <= 0) return []
  const [played, committed, skipped] = await Promise.all([
    rounds.listSequence(sequence, { below: to + 1, max }),
    commitments.list(sequence, { last, below: to + 1, max }),
    lost.placesHeld(sequence, { from, to }),
  ])
  const roundOf = new Map(played.map((round) => [round.nonce, round]))
  const commitmentOf = new Map(committed.map((commitment) => [commitment.nonce, commitment]))
  const stateOf = (nonce: number) => {
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
