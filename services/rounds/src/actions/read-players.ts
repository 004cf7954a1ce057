import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { listNonces } from '@pitboss/contracts/endpoints/players'
import { activeSessionsMax, playerRoundsMax } from '@pitboss/contracts/objects/player'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Page, readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { roundBytes } from '../records/present-round.ts'
import type { RoundState } from '../rules/round.ts'
import type { DatedCommitment } from '../storage/commitments-store.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { RoundSums } from '../storage/player-rounds.ts'
import { sequenceKey } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

type ListQuery = Omit<z.output<typeof listNonces.query>, 'environment'>

const dayMs = 24 * 60 * 60 * 1000
const sumsOfMs = 30 * dayMs
/** No session is longer than a day; one that was claimed under a key may carry an earlier id. */
const sessionsOfMs = 2 * dayMs
const grantsMax = 200
const nonceNumber = z.int().min(1)

/** One game of a player; `last` is the newest round that there is. */
export type PlayedGame = {
  readonly game: string
  readonly lastNonce: number
  readonly last: RoundState | null
}

/** What is known of a player in one environment. */
export type PlayerView = {
  readonly playerId: string
  readonly scope: Scope
  readonly lastSessionAt: Date | null
  readonly activeSessions: number
  readonly freeBets: number
  readonly games: readonly PlayedGame[]
  readonly from: Date
  readonly to: Date
  readonly sums: readonly RoundSums[]
  readonly complete: boolean
}

/** A nonce of a sequence with what is known of it. */
export type NonceView = {
  readonly nonce: number
  readonly state: 'PLAYED' | 'SHOWN' | 'SKIPPED' | 'MISSING'
  readonly commitment: DatedCommitment | null
  readonly round: RoundState | null
}

export type ReadPlayers = ReturnType<typeof createReadPlayers>

/** Creates the reads of players by the operator's people. Source: docs/contract.md, section 3, "Player". */
export function createReadPlayers({
  rounds,
  commitments,
  sessions,
  grants,
  access,
  catalogue,
  cursors,
}: Pick<Parts, 'rounds' | 'commitments' | 'sessions' | 'access' | 'catalogue' | 'cursors'> & {
  grants: Pick<GrantsStore, 'list'>
}) {
  return { find, listNonces: list }

  /**
   * A player with the sums of 30 days. One without a session, a round or a free bet is unknown.
   * @throws ServiceError NOT_FOUND
   */
  async function find({ scope }: Caller, playerId: string, now: Date): Promise<PlayerView> {
    const from = new Date(now.getTime() - sumsOfMs)
    const lately = new Date(now.getTime() - sessionsOfMs)
    const first = { before: null, now }
    const [[lastSession], active, granted, sums, games] = await Promise.all([
      sessions.list(scope, { playerId }, { ...first, max: 1 }),
      sessions.list(
        scope,
        { playerId, status: 'ACTIVE', from: lately },
        { ...first, max: activeSessionsMax },
      ),
      grants.list(scope, { playerId, status: 'ACTIVE' }, { ...first, max: grantsMax }),
      rounds.listSums(scope, playerId, { from, max: playerRoundsMax + 1 }),
      Promise.all(catalogue.entries.map(({ game }) => playedIn(scope, game.slug, playerId))),
    ])
    const played = games.filter(({ lastNonce }) => lastNonce > 0)
    if (lastSession === undefined && played.length === 0 && granted.length === 0) {
      throw new ServiceError('NOT_FOUND')
    }
    return {
      playerId,
      scope,
      lastSessionAt: lastSession?.createdAt ?? null,
      activeSessions: active.length,
      freeBets: granted.reduce((total, { remaining }) => total + remaining, 0),
      games: played,
      from,
      to: now,
      sums: sums.slice(0, playerRoundsMax),
      complete: sums.length <= playerRoundsMax,
    }
  }

  async function playedIn(scope: Scope, game: string, playerId: string): Promise<PlayedGame> {
    const sequence = sequenceKey(scope, game, playerId)
    const [{ nonce: lastNonce }, [last]] = await Promise.all([
      rounds.last(sequence),
      rounds.listSequence(sequence, { below: null, max: 1 }),
    ])
    return { game, lastNonce, last: last ?? null }
  }

  /**
   * Each nonce of a player in a game, newest first, without a hole: the one that was shown last, and all
   * below.
   * @throws ServiceError GAME_NOT_FOUND, and NOT_FOUND for a player who has neither a nonce nor a session
   */
  async function list(
    { scope }: Caller,
    { playerId, game }: { readonly playerId: string; readonly game: string },
    { limit, cursor, ...filters }: ListQuery,
  ): Promise<Page<NonceView>> {
    access.find(game)
    const sequence = sequenceKey(scope, game, playerId)
    const [{ nonce: lastNonce }, [shown]] = await Promise.all([
      rounds.last(sequence),
      commitments.list(sequence, { below: null, max: 1 }),
    ])
    const highest = Math.max(lastNonce, shown?.nonce ?? 0)
    if (highest === 0 && !(await hasSession(scope, playerId))) throw new ServiceError('NOT_FOUND')
    const lowest = Number(filters.from_nonce ?? 1)
    const { to_nonce } = filters
    return readPage({
      cursors,
      binding: { list: 'nonces', scope, chain: sequence, filters },
      query: { limit, cursor },
      position: nonceNumber,
      read: (below, max) => {
        const to = Math.min(highest, Number(to_nonce ?? highest), (below ?? Infinity) - 1)
        return between(sequence, { from: Math.max(lowest, to - max + 1), to }, lastNonce)
      },
      positionOf: ({ nonce }) => nonce,
      bytesOf: ({ round }) => (round === null ? 0 : roundBytes(round)),
    })
  }

  async function hasSession(scope: Scope, playerId: string): Promise<boolean> {
    const page = { before: null, max: 1, now: new Date(0) }
    return (await sessions.list(scope, { playerId }, page)).length > 0
  }

  /** The nonces from `from` to `to`, the last one first; none when `to` is below `from`. */
  async function between(
    sequence: string,
    { from, to }: { readonly from: number; readonly to: number },
    lastNonce: number,
  ): Promise<NonceView[]> {
    const max = to - from + 1
    if (max <= 0) return []
    const [played, committed, held] = await Promise.all([
      rounds.listSequence(sequence, { below: to + 1, max }),
      commitments.list(sequence, { below: to + 1, max }),
      rounds.placesHeld(sequence, { from, to }),
    ])
    const roundOf = new Map(played.map((round) => [round.nonce, round]))
    const commitmentOf = new Map(committed.map((commitment) => [commitment.nonce, commitment]))
    const skipped = new Set(held)
    const stateOf = (nonce: number) => {
      if (roundOf.has(nonce)) return 'PLAYED'
      if (skipped.has(nonce)) return 'SKIPPED'
      return nonce > lastNonce ? 'SHOWN' : 'MISSING'
    }
    return Array.from({ length: max }, (_, at) => {
      const nonce = to - at
      const commitment = commitmentOf.get(nonce) ?? null
      return { nonce, state: stateOf(nonce), commitment, round: roundOf.get(nonce) ?? null }
    })
  }
}
